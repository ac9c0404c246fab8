import { DateTime, Duration, Interval } from "luxon";
const d = DateTime.fromObject({ year: 2024, month: 2, day: 29, hour: 12 }, { zone: "utc" });
console.log(d.toISO(), d.plus({ months: 13, days: -2 }).toISODate(), d.toFormat("yyyy LL dd HH:mm:ss ooo kkkk W"), d.endOf("quarter").toISO(), d.diff(DateTime.utc(2020, 1, 1), ["years", "months", "hours"]).toObject(), DateTime.fromISO("2024-W10-2T05:00+03:00", { setZone: true }).toISO(), DateTime.fromFormat("12 2024 30", "MM yyyy dd", { zone: "utc" }).toMillis(), DateTime.fromISO("bad").invalidReason);
console.log(Duration.fromISO("P1Y2M3DT4H5M6.7S").toObject(), Duration.fromMillis(1e8).shiftTo("days", "hours", "minutes").toFormat("d:hh:mm"), Interval.fromDateTimes(d, d.plus({ days: 3 })).splitBy({ days: 1 }).map((i) => i.toISODate()));
