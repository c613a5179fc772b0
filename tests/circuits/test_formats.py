from pathlib import Path

import pytest
from hypothesis import given

from strategies import BENCH_NAMES, SYS_NAMES
from strategies import circuits as random_circuits
from xassay import circuits
from xassay.circuits import Circuit, Gate, bench, dxc
from xassay.errors import InputError, NetlistError, UnknownNameError

BOM = b"\xef\xbb\xbf"
NAND = [Gate("z", "nand", ("a", "b"))]


@pytest.mark.parametrize("suffix", [".bench", ".sys"])
@pytest.mark.parametrize("name", circuits.EMBEDDED)
def test_embedded_circuits_survive_a_round_trip(tmp_path: Path, name: str, suffix: str) -> None:
    path = tmp_path / f"{name}{suffix}"
    circuits.write(circuits.load(name), path)
    assert circuits.read(path) == circuits.load(name)
    assert path.read_bytes().endswith(b"\n")
    assert b"\r" not in path.read_bytes()


@given(random_circuits(names=BENCH_NAMES))
def test_random_circuits_survive_bench(circuit: Circuit) -> None:
    assert bench.parse(bench.render(circuit), circuit.name) == circuit


@given(random_circuits(names=SYS_NAMES, stuck=False, min_gates=1))
def test_random_circuits_survive_sys(circuit: Circuit) -> None:
    assert dxc.parse(dxc.render(circuit)) == circuit


def test_a_circuit_without_gates_survives_sys() -> None:
    wire = Circuit("wire", "a", "a", [])
    assert dxc.parse(dxc.render(wire)) == wire


@pytest.mark.parametrize("name", circuits.EMBEDDED)
def test_embedded_circuits_are_those_of_the_diagnosis_competition(shared_data: Path, name: str) -> None:
    path = shared_data / "dxc" / f"{name}.sys"
    if not path.exists():
        pytest.skip(f"no {path}")
    assert circuits.read(path) == circuits.load(name)


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        pytest.param(".bench", b"INPUT(a)\nINPUT(b)\nOUTPUT(z)\nz = NAND(a, b)\n", id="plain"),
        pytest.param(".bench", b"input(a)\nInput(b)\noutput(z)\nz = nAnD(a, b)", id="case"),
        pytest.param(".bench", b"z = NAND(a, b)\nOUTPUT(z)\nINPUT(a)\nINPUT(b)\n", id="order"),
        pytest.param(".bench", b"# NOT\n\nINPUT(a)# x\nINPUT(b)\nOUTPUT(z)\n z=NAND(a,b) #", id="comments"),
        pytest.param(".bench", b"INPUT ( a )\nINPUT\t(b)\nOUTPUT(z )\nz=NAND\t( a ,b )\n", id="spaces"),
        pytest.param(".bench", b"INPUT(a)\r\nINPUT(b)\r\nOUTPUT(z)\r\nz = NAND(a, b)\r\n", id="crlf"),
        pytest.param(".bench", BOM + b"INPUT(a)\nINPUT(b)\nOUTPUT(z)\nz = NAND(a, b)\n", id="bom"),
        pytest.param(".BENCH", b"INPUT(a)\nINPUT(b)\nOUTPUT(z)\nz = NAND(a, b)\n", id="suffix"),
        pytest.param(".sys", b"c.\n[a,b].\n[z].\n[[nand2,g,z,a,b]].\n", id="sys-plain"),
        pytest.param(".sys", b"% [x].\nc.[a,b]. % y\n[z].[[nand2,g,z,a,b]].%", id="sys-comments"),
        pytest.param(".sys", b"c .\n[ a,\n b ] .\n\n[z].\n[ [nand2 ,g\n,z,a, b] ]\n.", id="sys-spaces"),
        pytest.param(".sys", b"c.\r\n[a,b].\r\n[z].\r\n[[nand2,g,z,a,b]].\r\n", id="sys-crlf"),
        pytest.param(".sys", BOM + b"c.\n[a,b].\n[z].\n[[nand2,g,z,a,b]].\n", id="sys-bom"),
        pytest.param(".SYS", b"c.\n[a,b].\n[z].\n[[nand2,g,z,a,b]].\n", id="sys-suffix"),
    ],
)
def test_spelling_does_not_matter(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"c{suffix}"
    path.write_bytes(content)
    assert circuits.read(path) == Circuit("c", "ab", "z", NAND)


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("z = BUF(a)", Gate("z", "buf", ("a",))),
        ("z = BUFF(a)", Gate("z", "buf", ("a",))),
        ("z = buff(a)", Gate("z", "buf", ("a",))),
        ("z = NOT(a)", Gate("z", "not", ("a",))),
        ("z = Inv(a)", Gate("z", "not", ("a",))),
        ("z = VDD", Gate("z", "const1", ())),
        ("z = vdd", Gate("z", "const1", ())),
        ("z = gnd", Gate("z", "const0", ())),
        ("z = XOR(a, a, a)", Gate("z", "xor", ("a", "a", "a"))),
        ("z = AND(a)", Gate("z", "and", ("a",))),
    ],
)
def test_bench_operators(text: str, gate: Gate) -> None:
    assert bench.parse(f"INPUT(a)\nOUTPUT(z)\n{text}", "c").gates == (gate,)


def test_a_bench_circuit_is_named_by_its_file_and_a_sys_circuit_by_itself(tmp_path: Path) -> None:
    (tmp_path / "x.bench").write_text("# c\nINPUT(a)\nOUTPUT(a)\n")
    (tmp_path / "x.sys").write_text("c. [a]. [z]. [[buffer,g,z,a]].")
    assert circuits.read(tmp_path / "x.bench").name == "x"
    assert circuits.read(tmp_path / "x.sys").name == "c"


PORTS = "INPUT(a)\nINPUT(b)\nOUTPUT(z)\n"
TERMS = "c.\n[a,b].\n[z].\n"


@pytest.mark.parametrize(
    ("suffix", "content", "line", "word"),
    [
        pytest.param(".bench", f"{PORTS}z = AND(a, y)\ny = NOT(y)", 5, "cycle", id="cycle"),
        pytest.param(".bench", f"{PORTS}z = AND(a, b, y)", 4, "'y'", id="undriven"),
        pytest.param(".bench", f"{PORTS}z = NOT(a)\n\nz = NOT(b)", 6, "twice", id="driven-twice"),
        pytest.param(".bench", f"{PORTS}z = NOT(a)\na = NOT(b)", 5, "is an input", id="input-driven"),
        pytest.param(".bench", f"{PORTS}z = MUX(a, b)", 4, "'MUX'", id="operator"),
        pytest.param(".bench", f"{PORTS}z = NOT(a, b)", 4, "2 inputs, expected 1", id="fan-in"),
        pytest.param(".bench", f"{PORTS}z = DFF(a)", 4, "DFF", id="dff"),
        pytest.param(".bench", f"{PORTS}z = dff(a)", 4, "sequential", id="dff-lower-case"),
        pytest.param(".bench", "", None, "empty", id="empty"),
        pytest.param(".bench", " \n\t\r\n", None, "empty", id="blank"),
        pytest.param(".bench", "# INPUT(a)\n# OUTPUT(a)\n", None, "no inputs", id="comments-only"),
        pytest.param(".bench", b"INPUT(a)\n\0\0\n", None, "not a text file", id="null-bytes"),
        pytest.param(".bench", b"INPUT(a)\n\xff\xfe\n", None, "not a text file", id="not-utf8"),
        pytest.param(".bench", f"{PORTS}y = AND(a, b)", 3, "'z'", id="output-undriven"),
        pytest.param(".bench", "INPUT(a)\nz = NOT(a)", None, "no outputs", id="no-output"),
        pytest.param(".bench", f"{PORTS}z = AND(a, b", 4, "cannot read", id="cut"),
        pytest.param(".bench", f"{PORTS}z = AND(a, b)\nhello", 5, "'hello'", id="garbage"),
        pytest.param(".bench", f"{PORTS}z = AND(a, , b)", 4, "empty", id="empty-name"),
        pytest.param(".bench", f"{PORTS}z = AND()", 4, "empty", id="no-name"),
        pytest.param(".bench", f"{PORTS}INPUT(a)\nz = NOT(a)", 4, "twice", id="input-twice"),
        pytest.param(".bench", f"{PORTS}OUTPUT(z)\nz = NOT(a)", 4, "twice", id="output-twice"),
        pytest.param(
            ".bench", "INPUT(a)\nINPUT(a)\nOUTPUT(a)", 2, "twice", id="output-that-is-an-input-twice"
        ),
        pytest.param(".sys", f"{TERMS}[[and2,g,z,y,a],\n[and2,h,y,z,b]].", (4, 5), "cycle", id="sys-cycle"),
        pytest.param(".sys", f"{TERMS}[[and2,g,z,a,y]].", 4, "'y'", id="sys-undriven"),
        pytest.param(
            ".sys", f"{TERMS}[[inverter,g,z,a],\n[buffer,h,z,b]].", 5, "twice", id="sys-driven-twice"
        ),
        pytest.param(".sys", f"{TERMS}[[inverter,g,a,b]].", 4, "is an input", id="sys-input-driven"),
        pytest.param(".sys", f"{TERMS}[[mux2,g,z,a,b]].", 4, "'mux2'", id="sys-operator"),
        pytest.param(".sys", f"{TERMS}[[nand,g,z,a,b]].", 4, "'nand'", id="sys-operator-without-fan-in"),
        pytest.param(".sys", f"{TERMS}[[nand2,g,z,a,b,a]].", 4, "3 inputs, expected 2", id="sys-fan-in"),
        pytest.param(".sys", f"{TERMS}[[inverter,g,z,a,b]].", 4, "2 inputs, expected 1", id="sys-unary"),
        pytest.param(".sys", f"{TERMS}[[dff,g,z,a]].", 4, "'dff'", id="sys-dff"),
        pytest.param(".sys", "", None, "empty", id="sys-empty"),
        pytest.param(".sys", "% c.\n", 1, "the file ends", id="sys-comments-only"),
        pytest.param(".sys", b"c.\0", None, "not a text file", id="sys-null-bytes"),
        pytest.param(".sys", b"c.\n\xff", None, "not a text file", id="sys-not-utf8"),
        pytest.param(".sys", f"{TERMS}[[and2,g,y,a,b]].", 3, "'z'", id="sys-output-undriven"),
        pytest.param(".sys", "c.\n[a].\n[].\n[[inverter,g,z,a]].", None, "no outputs", id="sys-no-output"),
        pytest.param(".sys", "c.\n[a,b].\n", 2, "the file ends", id="sys-cut-after-inputs"),
        pytest.param(".sys", f"{TERMS}[[and2,g,z,a,b],\n[and2,h", 5, "the file ends", id="sys-cut-in-a-gate"),
        pytest.param(".sys", f"{TERMS}[[and2,g,z,a,b]]\n", 4, "the file ends", id="sys-cut-before-the-stop"),
        pytest.param(".sys", f"{TERMS}[[and2,g,z,a,b]].\nhello", 5, "'hello'", id="sys-garbage"),
        pytest.param(".sys", "c.\nhello\n[z].", 2, "'hello'", id="sys-garbage-for-inputs"),
        pytest.param(".sys", f"{TERMS}[[and2,g,z,a,,b]].", 4, "','", id="sys-empty-name"),
        pytest.param(".sys", f"{TERMS}[[and2,g],\n[and2,h,z,a,b]].", 4, "a gate needs", id="sys-short-gate"),
        pytest.param(".sys", f"{TERMS}[[and2,g,z,a,b],\n[]].", 5, "a gate needs", id="sys-empty-gate"),
        pytest.param(
            ".sys",
            f"{TERMS}[[],\n[and2,h,z,a,b]].",
            4,
            "a gate needs",
            id="sys-empty-gate-before-others",
        ),
        pytest.param(".sys", "c.\n[a,\na].\n[z].\n[[buffer,g,z,a]].", 3, "twice", id="sys-input-twice"),
        pytest.param(".sys", "c.\n[a=b].\n[z].\n[[buffer,g,z,a=b]].", 2, "'a=b'", id="sys-bad-name"),
    ],
)
def test_a_bad_file_is_refused_at_its_line(
    tmp_path: Path, suffix: str, content: str | bytes, line: int | tuple[int, ...] | None, word: str
) -> None:
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(NetlistError) as caught:
        circuits.read(path)
    error, message = caught.value, str(caught.value)
    assert error.line in (line if isinstance(line, tuple) else (line,))
    assert message.startswith(f"{path}:" if error.line is None else f"{path}:{error.line}: ")
    assert word in message
    assert message.splitlines() == [message]


@pytest.mark.parametrize("name", ["no.bench", "no.sys", "folder.bench", "c.txt", "c", "c.bench.gz"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.bench").mkdir()
    (tmp_path / "c.txt").write_text("INPUT(a)\nOUTPUT(a)\n")
    with pytest.raises(InputError, match=f"{name}: (cannot be read|a circuit file ends in)"):
        circuits.read(tmp_path / name)


@pytest.mark.parametrize("name", ["c.txt", "c", "no/c.bench", "no/c.sys"])
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: (cannot be written|a circuit file ends in)"):
        circuits.write(circuits.load("c17"), tmp_path / name)


@pytest.mark.parametrize(
    ("circuit", "word"),
    [
        (circuits.stick(circuits.load("c17"), "z4", 0), "'z4' is stuck"),
        (Circuit("v1.2", "ab", "z", NAND), "'v1.2'"),
        (Circuit("c", ["a.1"], ["z"], [Gate("z", "not", ["a.1"])]), "'a.1'"),
        (Circuit("c", "a", ["z%"], [Gate("z%", "not", "a")]), "'z%'"),
    ],
)
def test_what_sys_cannot_say_is_not_written(tmp_path: Path, circuit: Circuit, word: str) -> None:
    with pytest.raises(InputError, match=word):
        circuits.write(circuit, tmp_path / "c.sys")
    assert not (tmp_path / "c.sys").exists()


@pytest.mark.parametrize(
    ("inputs", "outputs", "gates", "word"),
    [
        ("", "z", [Gate("z", "const0", ())], "no inputs"),
        (["a b"], ["a b"], [], "'a b'"),
        ("a", "z", [Gate("z", "and", ())], "0 inputs, expected 1"),
        ("a", "z", [Gate("z", "const1", "a")], "1 inputs, expected 0"),
        ("a", "z", [Gate("z", "mux", "a")], "unknown operator 'mux'"),
    ],
)
def test_what_is_no_circuit_cannot_be_built(inputs: str, outputs: str, gates: list[Gate], word: str) -> None:
    with pytest.raises(NetlistError, match=word):
        Circuit("c", inputs, outputs, gates)


@pytest.mark.parametrize("function", [circuits.load, circuits.find])
@pytest.mark.parametrize(
    ("name", "closest"), [("C17", "c17"), ("c7", "c17"), ("74138", "74182"), ("7428", "74283")]
)
def test_an_unknown_circuit_suggests_the_closest(function: type, name: str, closest: str) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean '{closest}'") as caught:
        function(name)
    assert "known: c17, 74182, 74283, 74181" in str(caught.value)


def test_find_takes_a_name_or_a_file(tmp_path: Path) -> None:
    circuits.write(circuits.load("c17"), tmp_path / "c17.sys")
    assert circuits.find("c17") == circuits.find(str(tmp_path / "c17.sys"))
