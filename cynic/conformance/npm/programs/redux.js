import { createStore, combineReducers, applyMiddleware, bindActionCreators, compose } from "redux";
const counter = (state = { n: 0 }, action) => (action.type === "add" ? { ...state, n: state.n + action.by } : state);
const log = (state = [], action) => (action.type.startsWith("@@") ? state : [...state, action.type]);
const thunk = ({ dispatch, getState }) => (next) => (action) => (typeof action === "function" ? action(dispatch, getState) : next(action));
const store = createStore(combineReducers({ counter, log }), applyMiddleware(thunk));
const seen = [];
const stop = store.subscribe(() => seen.push(store.getState().counter.n));
const actions = bindActionCreators({ add: (by) => ({ type: "add", by }), later: () => async (dispatch) => { await null; return dispatch({ type: "add", by: 100 }); } }, store.dispatch);
actions.add(1); actions.add(2);
await actions.later();
stop(); actions.add(4);
console.log(store.getState(), seen, compose((x) => x + 1, (x) => x * 2)(5));
try { store.dispatch({}); } catch (error) { console.log(error.message); }
