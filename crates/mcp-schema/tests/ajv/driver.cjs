// Prints what ajv says. Reads one case per line from standard input, {"dialect","schema","values"}, and writes one line
// for each: the list of errors for every value, or {"refused"} with the reason if ajv does not take the schema. A value
// that makes ajv itself fail has null.
// Runs in a folder where ajv is installed.
"use strict";
const readline = require("node:readline");

const load = (name) => require(require.resolve(name, { paths: [process.cwd()] })).default;
const classes = {
  "draft-07": load("ajv"),
  "2019-09": load("ajv/dist/2019"),
  "2020-12": load("ajv/dist/2020"),
};
const options = { allErrors: true, strict: false, validateFormats: false, logger: false };

function judged({ dialect, schema, values }) {
  let validate;
  try {
    validate = new classes[dialect](options).compile(schema);
  } catch (error) {
    return { refused: String(error.message) };
  }
  return values.map((value) => {
    try {
      validate(value);
    } catch {
      return null;
    }
    const told = ({ instancePath, schemaPath, keyword, params, message }) =>
      ({ instancePath, schemaPath, keyword, params, message });
    return (validate.errors ?? []).map(told);
  });
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  process.stdout.write(JSON.stringify(judged(JSON.parse(line))) + "\n");
});
