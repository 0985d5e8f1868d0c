"""Cells of a CSV file as spreadsheets read them."""

from rankgauge.reports.tables import Table, render_csv


def test_no_cell_of_a_spreadsheet_is_a_formula() -> None:
    rows = [["=1+1", "-0.5"], ["+sum", "+3"], ["@x", "-"], ["-y", "-inf"], ["a=b", "1e-05"]]
    assert render_csv(Table(["system", "=m"], rows)) == (
        "system,'=m\n'=1+1,-0.5\n'+sum,+3\n'@x,-\n'-y,-inf\na=b,1e-05\n"
    )
    for start, shown in {" ": "' ", "\t": "\\t", "\r": "\\r", "\n": "\\n", "＝": "'＝", "＠": "'＠"}.items():
        assert render_csv(Table([f"{start}=1"], [])) == f"{shown}=1\n"
    assert render_csv(Table([" -1"], [["-0.25"]])) == " -1\n-0.25\n"
