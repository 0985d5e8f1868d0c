"""Live retrievers watched over time: looks, change detection, drift, incidents, alerts, metrics."""
