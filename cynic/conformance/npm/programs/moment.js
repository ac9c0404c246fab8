import moment from "moment";
const m = moment.utc("2013-02-08 09:30:26.123");
console.log(m.format("dddd, MMMM Do YYYY, h:mm:ss a"), m.clone().add(1, "M").endOf("month").toISOString(), m.from(moment.utc("2015-01-01")), moment.duration(3723, "s").humanize(), moment.utc("12-25-1995", "MM-DD-YYYY").day(), m.isoWeek(), m.isBetween("2013-01-01", "2014-01-01"), moment.utc("bad", "YYYY", true).isValid(), m.calendar(moment.utc("2013-02-09")), m.toObject(), m.diff("2010-01-01", "years", true).toFixed(5));
