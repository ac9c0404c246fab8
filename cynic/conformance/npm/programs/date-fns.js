import { format, addMonths, differenceInBusinessDays, parse, formatDistance, eachDayOfInterval, intervalToDuration, startOfISOWeek, parseISO, isWeekend, formatISO, getISOWeek, closestTo, set } from "date-fns";
import { de, ja } from "date-fns/locale";
const d = new Date(2024, 0, 31, 15, 4, 5);
console.log(format(d, "yyyy-MM-dd'T'HH:mm:ss.SSSxxx EEEE do QQQ"), format(addMonths(d, 1), "PPPppp"), format(d, "PPPP", { locale: de }), format(d, "PPPP", { locale: ja }), differenceInBusinessDays(new Date(2024, 6, 20), d), formatDistance(d, new Date(2021, 1, 1), { addSuffix: true }));
console.log(parse("3rd March '24 5:06 pm", "do MMMM ''yy h:mm a", d).toISOString(), eachDayOfInterval({ start: d, end: new Date(2024, 1, 3) }).map((x) => x.getDate()), intervalToDuration({ start: new Date(1929, 0, 15), end: new Date(1968, 3, 4) }), startOfISOWeek(d).toISOString(), isWeekend(d), formatISO(parseISO("2024-W05-3")), getISOWeek(d), String(parse("x", "yyyy", d)));
