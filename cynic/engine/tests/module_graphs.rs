//! Module graphs that are too deep or too wide: they link and evaluate, or say why not, in bounded time.

use std::rc::Rc;

use cynic_engine::vm::modules::{ModuleKind, ModuleLoader};
use cynic_engine::vm::{Options, Vm};

/// Modules `0` to `last`: the text of each comes from its number.
struct Numbered {
    last: usize,
    text: fn(usize) -> String,
}

impl ModuleLoader for Numbered {
    fn resolve(&self, _referrer: &str, specifier: &str) -> Result<String, String> {
        Ok(specifier.to_owned())
    }

    fn load(&self, key: &str, _kind: ModuleKind) -> Result<String, String> {
        let number: usize = key.parse().map_err(|_| "no such module".to_owned())?;
        Ok(if number < self.last { (self.text)(number) } else { "export const z = 1;".to_owned() })
    }
}

/// Evaluates `main` over such modules, and `again` after it; the global `out` as a string after each, or how it failed.
fn outcomes(last: usize, text: fn(usize) -> String, mains: &[&str]) -> Vec<String> {
    let mut vm = Vm::new(Options { hardened: false, ..Options::default() });
    vm.set_module_loader(Rc::new(Numbered { last, text }));
    let outcome = |(at, main): (usize, &&str)| {
        let evaluated =
            vm.load_module_from(&format!("main{at}"), main).and_then(|module| vm.evaluate_module(module));
        if evaluated.is_err() {
            let error = vm.take_exception();
            return vm.to_string(error).map_or_else(|_| String::new(), |text| text.to_rust_string());
        }
        let _ = vm.run_jobs();
        let out = vm.evaluate_script("out", "String(globalThis.out)");
        out.ok().and_then(|out| out.as_string()).map_or_else(String::new, |out| out.to_rust_string())
    };
    mains.iter().enumerate().map(outcome).collect()
}

#[test]
fn a_long_chain_of_star_exports_resolves() {
    let text = |n| format!("export * from '{}'; export const a{n} = {n};", n + 1);
    let main = "import * as all from '0'; import { z, a7 } from '0'; globalThis.out = [Object.keys(all).length, z, a7];";
    assert_eq!(outcomes(700, text, &[main]), ["701,1,7"]);
}

#[test]
fn diamonds_of_star_exports_are_walked_once() {
    let text = |n: usize| format!("export * from '{}'; export * from '{}';", n + 1, (n + 2).min(90));
    assert_eq!(outcomes(90, text, &["import { z } from '0'; globalThis.out = z;"]), ["1"]);
}

#[test]
fn what_disagrees_is_ambiguous_and_what_agrees_is_not() {
    let text = |n| match n {
        0 => "export * from '1'; export * from '2';".to_owned(),
        1 => "export const x = 1; export { z } from '9'; export const only = 3;".to_owned(),
        _ => "export const x = 2; export * from '9';".to_owned(),
    };
    let good = "import { z, only } from '0'; import * as all from '0'; globalThis.out = [z, only, Object.keys(all)];";
    let found = outcomes(9, text, &[good, "import { x } from '0';"]);
    assert_eq!(found[0], "1,3,only,z");
    assert!(found[1].contains("SyntaxError"), "{}", found[1]);
}

#[test]
fn a_chain_that_is_too_deep_is_an_error_each_time() {
    let text = |n| format!("import '{}';", n + 1);
    let main = "import '0'; globalThis.out = 'linked';";
    for outcome in outcomes(60_000, text, &[main, main]) {
        assert!(outcome == "linked" || outcome.contains("RangeError"), "{outcome}");
    }
}

#[test]
fn namespaces_of_namespaces_end() {
    let text = |n| format!("export * as n from '{}';", n + 1);
    let main = "import * as all from '0'; globalThis.out = typeof all.n;";
    for outcome in outcomes(50_000, text, &[main, main]) {
        assert!(outcome == "object" || outcome.contains("RangeError"), "{outcome}");
    }
}
