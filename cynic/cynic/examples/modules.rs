//! Modules from a loader of the host's: here, a table in memory.

use std::collections::HashMap;

use cynic::{Engine, Error, Limits, ModuleKind, ModuleLoader};

struct Table(HashMap<&'static str, &'static str>);

impl ModuleLoader for Table {
    fn resolve(&self, _referrer: &str, specifier: &str) -> Result<String, String> {
        let key = specifier.trim_start_matches("./");
        if self.0.contains_key(key) { Ok(key.to_owned()) } else { Err("there is no such module".to_owned()) }
    }

    fn load(&self, key: &str, _kind: ModuleKind) -> Result<String, String> {
        self.0.get(key).map(|text| (*text).to_owned()).ok_or_else(|| "it is gone".to_owned())
    }
}

fn main() -> Result<(), Error> {
    let mut isolate = Engine::new().isolate(Limits::default());
    isolate.set_module_loader(Table(HashMap::from([
        (
            "main",
            "import { area } from './shapes'; import config from './config' with { type: 'json' };
                  export const result = await Promise.resolve(area(config.radius));
                  export const lazy = async () => (await import('./missing')).x;",
        ),
        ("shapes", "export const area = (r) => Math.round(Math.PI * r * r);"),
        ("config", r#"{ "radius": 10 }"#),
    ])));

    let mut realm = isolate.realm();
    let namespace = realm.import("main")?;
    let result: u32 = realm.get(&namespace, "result")?.to(&mut realm)?;
    assert_eq!(result, 314);

    // A module that cannot be found is an ordinary exception.
    let promise = realm.call_method(&namespace, "lazy", &[])?;
    let Err(Error::Thrown(exception)) = realm.settle(&promise) else { return Err("it should fail".into()) };
    assert_eq!(exception.message, "TypeError: cannot resolve module './missing': there is no such module");
    println!("{result}; {}", exception.message);
    Ok(())
}

#[test]
fn runs() {
    main().expect("the example runs");
}
