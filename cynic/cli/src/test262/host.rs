//! The host object `$262` that tests find. <https://github.com/tc39/test262/blob/main/INTERPRETING.md>

use cynic::{Error, Handle, Realm};

use super::agent;

type Result<T = ()> = std::result::Result<T, Error>;

/// Defines `$262` in a realm.
pub(super) fn install(realm: &mut Realm<'_>) -> Result {
    let host = realm.new_object();
    agent::install(realm, &host)?;
    let create = realm.function("createRealm", create_realm);
    realm.set(&host, "createRealm", create)?;
    let detach = realm.function("detachArrayBuffer", |realm: &mut Realm<'_>, buffer: Handle| {
        realm.detach_array_buffer(&buffer)?;
        realm.parse_json("null")
    });
    realm.set(&host, "detachArrayBuffer", detach)?;
    let eval = realm
        .function("evalScript", |realm: &mut Realm<'_>, text: String| realm.evaluate("evalScript", &text));
    realm.set(&host, "evalScript", eval)?;
    let gc = realm.function("gc", |realm: &mut Realm<'_>| realm.collect_garbage());
    realm.set(&host, "gc", gc)?;
    let global = realm.global();
    realm.set(&host, "global", global)?;
    realm.define_global("$262", host)
}

/// A new realm; its own `$262`.
fn create_realm(realm: &mut Realm<'_>) -> Result<Handle> {
    let id = realm.new_realm();
    realm.in_realm(&id, |realm| {
        cynic::host::install_globals(realm);
        install(realm)?;
        let global = realm.global();
        realm.get(&global, "$262")
    })
}
