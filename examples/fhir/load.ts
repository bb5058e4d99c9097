import { parseArgs } from 'node:util';
import { loadDataSet } from '../../connectors/fhir-r4/fake/data-set.ts';
import { uploadTo } from '../../connectors/fhir-r4/fake/upload.ts';

/*
 * Loads the synthetic people, schedules and slots of the example into any FHIR R4 server over REST.
 *
 *   npm run fhir:load -- --base-url <url> [--header 'Authorization: Bearer …'] [--days 42] [--also-on 2030-03-15]
 *
 * If the server accepts client-assigned ids, a second run overwrites the first and every slot is free again. Otherwise
 * it only adds what is missing.
 */

const { values: options } = parseArgs({
  options: {
    'base-url': { type: 'string' },
    header: { type: 'string', multiple: true, default: [] },
    days: { type: 'string', default: '42' },
    'also-on': { type: 'string', multiple: true, default: [] },
  },
});
const baseUrl = options['base-url'];
const days = Number(options.days);
if (baseUrl === undefined || !Number.isInteger(days)) {
  process.stderr.write(
    "npm run fhir:load -- --base-url <url> [--header 'Name: value'] [--days 42] [--also-on <date>]\n",
  );
  process.exit(2);
}

const uploader = uploadTo({ baseUrl, headers: Object.fromEntries(options.header.map(nameAndValue)) });
let count = 0;
const progress = setInterval(() => process.stderr.write(`${count} resources\n`), 5000);
await loadDataSet(
  async (resource) => {
    await uploader.save(resource);
    count++;
  },
  { days, alsoOn: options['also-on'] },
);
clearInterval(progress);

const id = (reference: string) => uploader.referenceOf(reference).replace(/^.*\//, '');
process.stdout.write(`${count} resources loaded. Values for the configuration:

care_units:
  - id: north
    settings: { location: ${uploader.referenceOf('Location/north')} }
  - id: south
    settings: { location: ${uploader.referenceOf('Location/south')} }

To run the conformance kit with them:

npx crossward conformance --care-unit north --other-care-unit south \\
  --patient emr_id:${id('Patient/p-1')} se_personal_number:191212121212 --other-patient ${id('Patient/p-3')} \\
  --resource emr_id:${id('Practitioner/r-1')} hsa_id:SE0000000000-1001 se_personal_number:196408233234
`);

function nameAndValue(header: string): [name: string, value: string] {
  const [, name, value] = /^([^:]+):\s*(.*)$/.exec(header) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  process.stderr.write("A header must have the form 'Name: value'.\n");
  process.exit(2);
}
