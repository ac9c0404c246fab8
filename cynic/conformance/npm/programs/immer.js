import { produce, produceWithPatches, applyPatches, enablePatches, enableMapSet, current, original, isDraft } from "immer";
enablePatches(); enableMapSet();
const base = { user: { name: "a", tags: ["x", "y"] }, map: new Map([["k", { v: 1 }]]), set: new Set([1, 2]), same: { z: 1 } };
const [next, patches, inverse] = produceWithPatches(base, (draft) => {
  draft.user.tags.push("z"); draft.user.tags.splice(0, 1); draft.map.get("k").v++; draft.set.add(3); delete draft.user.name;
  draft.sum = current(draft).user.tags.length; draft.orig = original(draft).user.name; draft.isDraft = isDraft(draft.user);
});
console.log(next, next.same === base.same, Object.isFrozen(next.user), base.user);
console.log(patches, JSON.stringify(inverse));
console.log(applyPatches(next, inverse));
try { next.user.tags.push(1); } catch (error) { console.log(error.constructor.name); }
const toggle = produce((draft, key) => { draft[key] = !draft[key]; });
console.log(toggle({ a: true }, "a"));
