//! Erlang's terms and Python's objects. Owns the table of both (docs/iris-nodes.md) and the classes of what Python has no value for.
//! Invariant: nothing is lost on the way in (what a dictionary cannot hold is `Pairs`), and what cannot be told is refused on the way out
//! before any of it is sent. What comes is data: an object only of a class that was registered (`iris.codec`), and pickled only between nodes that
//! both said that they take that.

use std::collections::HashSet;
use std::sync::Arc;

use iris_mesh::limits::{DEPTH_MAX, TERMS_MAX};
use iris_mesh::{Atom, Big, Destination, Term, etf};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMemoryView, PyString, PyTuple, PyType,
};

use crate::node::Shared;
use crate::reference::Ref;
use crate::remote::RemoteRef;

/// The classes of `iris.terms`.
struct Classes {
    atom: Py<PyType>,
    bits: Py<PyType>,
    improper: Py<PyType>,
    pairs: Py<PyType>,
    function: Py<PyType>,
    /// `iris.codec`'s.
    packers: Py<PyDict>,
    packed: Py<PyAny>,
    unpackers: Py<PyDict>,
    unpacked: Py<PyAny>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

fn classes(py: Python<'_>) -> PyResult<&Classes> {
    CLASSES.get_or_try_init(py, || {
        let module = py.import("iris.terms")?;
        let codec = py.import("iris.codec")?;
        let table = |name| Ok::<_, PyErr>(codec.getattr(name)?.cast_into::<PyDict>()?.unbind());
        let class = |name| Ok::<_, PyErr>(module.getattr(name)?.cast_into::<PyType>()?.unbind());
        Ok(Classes {
            atom: class("Atom")?,
            bits: class("Bits")?,
            improper: class("ImproperList")?,
            pairs: class("Pairs")?,
            function: class("Function")?,
            packers: table("packers")?,
            packed: codec.getattr("packed")?.unbind(),
            unpackers: table("unpackers")?,
            unpacked: codec.getattr("unpacked")?.unbind(),
        })
    })
}

/// A reference of Erlang's: of a monitor, a request or an alias. It can be compared, kept and sent back.
#[pyclass(frozen, eq, hash, module = "iris", name = "Reference")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Reference(pub(crate) iris_mesh::Reference);

#[pymethods]
impl Reference {
    /// The node that made it.
    #[getter]
    fn node(&self) -> &str {
        self.0.node.as_str()
    }

    fn __repr__(&self) -> String {
        format!("<Reference {} {:?}>", self.0.node, self.0.ids)
    }
}

/// A port or a fun of another node, which can only be kept and sent back.
#[pyclass(frozen, module = "iris", name = "Opaque")]
pub(crate) struct Opaque(Term);

#[pymethods]
impl Opaque {
    /// "port" or "fun".
    #[getter]
    fn kind(&self) -> &'static str {
        if matches!(self.0, Term::Port(_)) { "port" } else { "fun" }
    }

    fn __repr__(&self) -> String {
        format!("<Opaque {}>", self.kind())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> isize {
        // Terms have no hash, and these are few.
        isize::from(matches!(self.0, Term::Port(_)))
    }
}

/// The object for a term.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    shared: &Arc<Shared>,
    term: Term,
) -> PyResult<Bound<'py, PyAny>> {
    let each = |items: Vec<Term>| -> PyResult<Vec<Bound<'py, PyAny>>> {
        items.into_iter().map(|item| to_python(py, shared, item)).collect()
    };
    Ok(match term {
        Term::Int(value) => value.into_pyobject(py)?.into_any(),
        Term::Big(big) => {
            let bytes = PyBytes::new(py, &big.magnitude);
            let value = py.get_type::<PyInt>().call_method1("from_bytes", (bytes, "little"))?;
            if big.negative { value.neg()? } else { value }
        }
        Term::Float(value) => PyFloat::new(py, value).into_any(),
        Term::Atom(atom) => match atom.as_str() {
            "true" => PyBool::new(py, true).to_owned().into_any(),
            "false" => PyBool::new(py, false).to_owned().into_any(),
            "nil" => py.None().into_bound(py),
            text => classes(py)?.atom.bind(py).call1((text,))?,
        },
        Term::Binary(bytes) => PyBytes::new(py, &bytes).into_any(),
        Term::Text(text) => PyString::new(py, &text).into_any(),
        Term::Object(bytes) => {
            if !shared.objects {
                return Err(PyTypeError::new_err("this node takes no pickled objects"));
            }
            py.import("pickle")?.call_method1("loads", (PyBytes::new(py, &bytes),))?
        }
        Term::Bits(bytes, bits) => classes(py)?.bits.bind(py).call1((PyBytes::new(py, &bytes), bits))?,
        Term::Tuple(items) => PyTuple::new(py, each(items)?)?.into_any(),
        Term::List(items) => PyList::new(py, each(items)?)?.into_any(),
        Term::Improper(parts) => {
            let (items, tail) = *parts;
            let (items, tail) = (PyTuple::new(py, each(items)?)?, to_python(py, shared, tail)?);
            classes(py)?.improper.bind(py).call1((items, tail))?
        }
        Term::Map(pairs) => map_to_python(py, shared, pairs)?,
        Term::Pid(pid) => Bound::new(py, RemoteRef::new(shared.clone(), Destination::Pid(*pid)))?.into_any(),
        Term::Reference(reference) => Bound::new(py, Reference(*reference))?.into_any(),
        term @ (Term::Port(_) | Term::Fun(_)) => Bound::new(py, Opaque(term))?.into_any(),
        Term::Export(parts) => {
            let (module, function, arity) = *parts;
            classes(py)?.function.bind(py).call1((module.as_str(), function.as_str(), arity))?
        }
    })
}

/// A dictionary, if its keys can be told apart in one: 1 and 1.0 cannot, and lists and maps are no keys.
fn map_to_python<'py>(
    py: Python<'py>,
    shared: &Arc<Shared>,
    pairs: Vec<(Term, Term)>,
) -> PyResult<Bound<'py, PyAny>> {
    let count = pairs.len();
    let registered = kind_of(py, &pairs)?;
    let mut objects = Vec::with_capacity(count);
    for (key, value) in pairs {
        objects.push((to_python(py, shared, key)?, to_python(py, shared, value)?));
    }
    let dict = PyDict::new(py);
    let fits = objects.iter().all(|(key, value)| dict.set_item(key, value).is_ok()) && dict.len() == count;
    if fits {
        return match registered {
            Some((key, name)) => classes(py)?.unpacked.bind(py).call1((key.as_str(), name.as_str(), dict)),
            None => Ok(dict.into_any()),
        };
    }
    classes(py)?.pairs.bind(py).call1((PyTuple::new(py, objects)?,))
}

/// Where a map says of which registered class it is, and which that is.
fn kind_of(py: Python<'_>, pairs: &[(Term, Term)]) -> PyResult<Option<(Atom, Atom)>> {
    let classes = classes(py)?;
    if classes.unpackers.bind(py).is_empty() {
        return Ok(None);
    }
    for pair in pairs {
        if let (Term::Atom(key), Term::Atom(name)) = pair
            && ["__type__", "__struct__"].contains(&key.as_str())
        {
            let known = classes.unpackers.bind(py).contains((key.as_str(), name.as_str()))?;
            return Ok(known.then(|| (key.clone(), name.clone())));
        }
    }
    Ok(None)
}

/// The term for an object, or why there is none.
pub(crate) fn to_term(shared: &Arc<Shared>, object: &Bound<'_, PyAny>) -> PyResult<Term> {
    let mut budget = TERMS_MAX;
    term_of(shared, object, 0, &mut budget)
}

fn term_of(
    shared: &Arc<Shared>,
    object: &Bound<'_, PyAny>,
    depth: usize,
    budget: &mut usize,
) -> PyResult<Term> {
    if depth > DEPTH_MAX {
        return Err(PyValueError::new_err(format!("a message may be nested {DEPTH_MAX} deep at most")));
    }
    *budget = budget
        .checked_sub(1)
        .ok_or_else(|| PyValueError::new_err(format!("a message may hold {TERMS_MAX} values at most")))?;
    let py = object.py();
    if object.is_none() {
        return Ok(Term::atom("nil"));
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(Term::atom(if value.is_true() { "true" } else { "false" }));
    }
    let classes = classes(py)?;
    let registered = classes.packers.bind(py);
    if !registered.is_empty() && registered.contains(object.get_type())? {
        let fields = classes.packed.bind(py).call1((object,))?;
        return term_of(shared, &fields, depth, budget);
    }
    if object.is_instance_of::<PyInt>() {
        return integer(object);
    }
    if let Ok(value) = object.cast::<PyString>() {
        let text = value.to_str()?;
        if object.is_instance(classes.atom.bind(py))? {
            return Ok(Term::Atom(Atom::new(text)));
        }
        return Ok(Term::text(text));
    }
    if let Ok(value) = object.cast::<PyBytes>() {
        return Ok(Term::Binary(value.as_bytes().to_vec()));
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        let value = value.value();
        if value.is_finite() {
            return Ok(Term::Float(value));
        }
        return Err(PyValueError::new_err(format!("{value} cannot be sent: floats of Erlang are finite")));
    }
    let mut each = |items: Vec<Bound<'_, PyAny>>| -> PyResult<Vec<Term>> {
        items.iter().map(|item| term_of(shared, item, depth + 1, budget)).collect()
    };
    if let Ok(value) = object.cast::<PyTuple>() {
        return Ok(Term::Tuple(each(value.iter().collect())?));
    }
    if let Ok(value) = object.cast::<PyList>() {
        return Ok(Term::List(each(value.iter().collect())?));
    }
    if let Ok(value) = object.cast::<PyDict>() {
        return map_of(value.iter().map(|(key, value)| {
            Ok((term_of(shared, &key, depth + 1, budget)?, term_of(shared, &value, depth + 1, budget)?))
        }));
    }
    if let Ok(value) = object.cast::<RemoteRef>() {
        return Ok(value.get().term());
    }
    if let Ok(value) = object.cast::<Ref>() {
        return shared.give(value.get().of(&shared.compat)?).map(Term::from);
    }
    if let Ok(value) = object.cast::<Reference>() {
        return Ok(value.get().0.clone().into());
    }
    if let Ok(value) = object.cast::<Opaque>() {
        return Ok(value.get().0.clone());
    }
    if object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>() {
        let bytes = py.get_type::<PyBytes>().call1((object,))?;
        return Ok(Term::Binary(bytes.cast::<PyBytes>()?.as_bytes().to_vec()));
    }
    special(shared, object, depth, budget)
}

/// What `iris.terms` has classes for.
fn special(
    shared: &Arc<Shared>,
    object: &Bound<'_, PyAny>,
    depth: usize,
    budget: &mut usize,
) -> PyResult<Term> {
    let py = object.py();
    let classes = classes(py)?;
    if object.is_instance(classes.bits.bind(py))? {
        let (bytes, bits): (Vec<u8>, u8) =
            (object.getattr("data")?.extract()?, object.getattr("bits")?.extract()?);
        return match bits {
            1..=7 if !bytes.is_empty() => Ok(Term::Bits(bytes, bits)),
            _ => Err(PyValueError::new_err("of the last byte of Bits, 1 to 7 bits count")),
        };
    }
    if object.is_instance(classes.improper.bind(py))? {
        let items = object.getattr("items")?;
        let mut terms = Vec::new();
        for item in items.try_iter()? {
            terms.push(term_of(shared, &item?, depth + 1, budget)?);
        }
        let tail = term_of(shared, &object.getattr("tail")?, depth + 1, budget)?;
        return match tail {
            _ if terms.is_empty() => Err(PyValueError::new_err("an ImproperList has at least one item")),
            Term::List(_) | Term::Improper(_) => {
                Err(PyValueError::new_err("the tail of an ImproperList is no list"))
            }
            tail => Ok(Term::Improper(Box::new((terms, tail)))),
        };
    }
    if object.is_instance(classes.pairs.bind(py))? {
        let pairs = object.getattr("pairs")?;
        let mut terms = Vec::new();
        for pair in pairs.try_iter()? {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            terms.push(Ok((
                term_of(shared, &key, depth + 1, budget)?,
                term_of(shared, &value, depth + 1, budget)?,
            )));
        }
        return map_of(terms);
    }
    if object.is_instance(classes.function.bind(py))? {
        let text = |name| object.getattr(name)?.extract::<String>();
        let arity: u8 = object.getattr("arity")?.extract()?;
        let parts = (Atom::new(&text("module")?), Atom::new(&text("function")?), arity);
        return Ok(Term::Export(Box::new(parts)));
    }
    if shared.objects {
        let pickled = py.import("pickle")?.call_method1("dumps", (object, 5))?;
        return Ok(Term::Object(pickled.cast::<PyBytes>()?.as_bytes().to_vec()));
    }
    Err(PyTypeError::new_err(format!(
        "{} cannot be sent to another node: only data can (numbers, text, bytes, tuples, lists, dictionaries, iris.Atom and \
         references); make it of these, or register the class on both sides (iris.register_type)",
        object.get_type().qualname()?
    )))
}

fn integer(object: &Bound<'_, PyAny>) -> PyResult<Term> {
    if let Ok(value) = object.extract::<i64>() {
        return Ok(Term::Int(value));
    }
    // Of a subclass only the number is wanted, whatever methods it has.
    let class = object.py().get_type::<PyInt>();
    let zero = class.call_method1("__lt__", (object, 0))?;
    let negative = zero.is_truthy()?;
    let magnitude = class.call_method1("__abs__", (object,))?;
    let bits: usize = class.call_method1("bit_length", (&magnitude,))?.extract()?;
    let bytes = class.call_method1("to_bytes", (&magnitude, bits.div_ceil(8), "little"))?;
    let magnitude = bytes.cast::<PyBytes>()?.as_bytes().to_vec();
    Ok(Term::Big(Box::new(Big { negative, magnitude })))
}

/// Keys that are different in Python may be the same in Erlang (a text and its bytes), where a map with both would end the connection.
fn map_of(pairs: impl IntoIterator<Item = PyResult<(Term, Term)>>) -> PyResult<Term> {
    let mut seen = HashSet::new();
    let mut terms = Vec::new();
    for pair in pairs {
        let (key, value) = pair?;
        let mut bytes = Vec::new();
        etf::encode(&mut bytes, &key).map_err(|error| PyValueError::new_err(error.to_string()))?;
        if !seen.insert(bytes) {
            return Err(PyValueError::new_err("two keys of a map are the same once they are sent"));
        }
        terms.push((key, value));
    }
    Ok(Term::Map(terms))
}
