import lunr from "lunr";
const docs = [{ id: 1, title: "Twelfth Night", body: "If music be the food of love, play on" }, { id: 2, title: "Macbeth", body: "When shall we three meet again in thunder, lightning" }, { id: 3, title: "Music theory", body: "lovely harmonies and playing" }];
const index = lunr(function () { this.ref("id"); this.field("title", { boost: 5 }); this.field("body"); docs.forEach((d) => this.add(d)); });
for (const query of ["music", "lov*", "+play -title:night", "thundr~1", "body:meet^3 music"]) console.log(query, index.search(query).map((r) => [r.ref, r.score.toFixed(3)]));
console.log(JSON.stringify(lunr.Index.load(JSON.parse(JSON.stringify(index))).search("music")).length, lunr.stemmer(new lunr.Token("relational")).toString());
