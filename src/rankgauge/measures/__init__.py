"""Measures: values with a canonical name, kernels by family, and what each of them means."""

from rankgauge.measures.catalogue import built_in
from rankgauge.measures.measure import Definition, Law, Measure, Parameter
from rankgauge.measures.notation import find_measure, find_measure_name, of_passages, parse_measure, parse_measures
from rankgauge.measures.registry import all_definitions, find, register

__all__ = [
    "Definition",
    "Law",
    "Measure",
    "Parameter",
    "all_definitions",
    "find",
    "find_measure",
    "find_measure_name",
    "of_passages",
    "parse_measure",
    "parse_measures",
    "register",
]

register(*built_in())
