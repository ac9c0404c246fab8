import chroma from "chroma-js";
import Color from "color";
console.log(chroma("hotpink").darken(2).hex(), chroma.scale(["yellow", "navy"]).mode("lch").colors(6), chroma.contrast("#ffb", "#808").toFixed(4), chroma.mix("red", "blue", 0.25, "lab").css(), chroma(0x336699).oklch().map((n) => n.toFixed(4)), chroma.brewer.OrRd.length, chroma.deltaE("#ededee", "#edeeed").toFixed(3));
console.log(Color("rgb(255, 99, 71)").lighten(0.2).hsl().round().string(), Color("#abc").cmyk().array().map((n) => n.toFixed(2)), Color.hsl(200, 50, 50).rotate(90).hex(), Color("red").luminosity().toFixed(5), Color({ r: 1, g: 2, b: 3 }).unitObject());
