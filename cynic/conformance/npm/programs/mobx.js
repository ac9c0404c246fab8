import { observable, computed, autorun, action, makeAutoObservable, runInAction, reaction, toJS, configure, when } from "mobx";
configure({ enforceActions: "always" });
class Todos { items = []; filter = "all"; constructor() { makeAutoObservable(this); } get open() { return this.items.filter((i) => !i.done).length; } add(t) { this.items.push({ t, done: false }); } *flow() { yield Promise.resolve(); this.add("flow"); } }
const todos = new Todos(), log = [];
const stop = autorun(() => log.push(`open ${todos.open}`));
reaction(() => todos.items.map((i) => i.t).join(), (v) => log.push(v));
todos.add("a"); todos.add("b");
runInAction(() => { todos.items[0].done = true; });
await todos.flow();
stop();
const map = observable.map({ a: 1 }), double = computed(() => map.get("a") * 2);
when(() => map.get("a") > 5).then(() => log.push("when"));
action(() => map.set("a", 10))();
await null; await null;
console.log(log, double.get(), toJS(todos.items));
