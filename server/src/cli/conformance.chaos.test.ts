import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Report } from '@crossward/connector-kit/conformance';
import { afterAll, expect, test } from 'vitest';
import { timeZone } from '../../../connectors/fhir-r4/fake/data-set.ts';
import { type FakeOptions, startFake } from '../../../connectors/fhir-r4/fake/server.ts';
import { nightsOfClockChanges } from '../../../connectors/fhir-r4/test/clock-changes.ts';
import { addOddPeople, ambiguousNumber, inactivePatient } from '../../../connectors/fhir-r4/test/odd-people.ts';
import { settingsFor } from '../../../connectors/fhir-r4/test/subject.ts';
import { nextClockChange } from '../../../test/requests/clock-change-days.ts';
import { fewDays } from '../../../test/requests/few-days.ts';
import { crossward } from './test-support.ts';

const folder = await mkdtemp(join(tmpdir(), 'crossward-conformance-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs `crossward conformance` against a fake FHIR server. */
async function conformance(options: FakeOptions, words: string) {
  const fake = await startFake({ data: { days: 30 }, ...options });
  try {
    for (const slot of nightsOfClockChanges().slots) fake.store.save(slot);
    addOddPeople(fake.store);
    const config = join(folder, 'crossward.yaml');
    const careUnit = (id: string) => ({
      id,
      name: id,
      time_zone: timeZone,
      language: 'sv',
      settings: { location: `Location/${id}` },
    });
    const settings = settingsFor(fake.url);
    const emr = {
      id: 'fhir',
      name: 'FHIR',
      connector: 'fhir-r4',
      synthetic_identifiers: true,
      settings,
      connection: { allow_private_addresses: true },
      care_units: [careUnit('north'), careUnit('south')],
    };
    // JSON is YAML.
    await writeFile(config, JSON.stringify({ emrs: [emr], clients: [] }));
    const { code, stdout, stderr } = await crossward(
      `conformance --config ${config} --patient p-1 se_personal_number:191212121212 ` +
        `--resource r-1 hsa_id:SE0000000000-1001 se_personal_number:196408233234 --service consultation --other-patient p-3 --until ${fewDays.end.toISOString()} ${newPatients} ${asWritten} --json ${words}`,
    );
    return { code, stderr, report: JSON.parse(stdout) as Report, fake };
  } finally {
    await fake.close();
  }
}

/** As the data set has them: without the century, and with a trunk zero. */
const asWritten =
  '--written-number se_personal_number:197010632391 --written-phone p-6=+46701740605 ' +
  `--ambiguous-patient se_personal_number:${ambiguousNumber} --inactive-patient emr_id:${inactivePatient}`;
/** Test numbers of Skatteverket. */
const newPatients = ['189001019802', '189001029819', '189001039826', '189001049833']
  .map((it) => `--new-patient se_personal_number:${it}`)
  .join(' ');
const dates = (['spring', 'autumn'] as const).map((season) => nextClockChange(timeZone, season).date);
const clockChanges = `--clock-change ${dates.join(' --clock-change ')} --clock-change-slots 00:00-05:00/30`;

const ofOddRecords = ['unreadable-records', 'references'];
/** A command gives no record a time stamp. */
const withTimeStamps = [
  'tells changes of one and the same time once each, in small pages',
  'tells a change that appears later than its time stamp, and no other again',
];

test.each([
  ['every capability', {}, ''],
  ['slot claims', { transactions: 'none' }, '--only clock-changes concurrent-edits'],
] satisfies [string, FakeOptions, string][])(
  'no check is skipped on a FHIR server with clock changes and direct changes: %s',
  async (_, options, only) => {
    const { code, report, fake } = await conformance(options, `${clockChanges} --direct-changes ${only}`.trimEnd());
    const of = (outcome: string) => report.results.filter((it) => it.outcome === outcome);
    // A command puts no record into an EHR that nobody could read.
    const skipped = of('not_checked').filter(
      ({ capability, check }) => !ofOddRecords.includes(capability) && !withTimeStamps.includes(check),
    );
    expect([of('failed'), skipped, report.leftBehind]).toEqual([[], [], []]);
    expect(code).toBe(0);
    const passed = of('passed').map(({ capability }) => capability);
    expect(passed).toEqual(expect.arrayContaining(['clock-changes', 'concurrent-edits']));
    const busy = fake.store.search('Slot', new URLSearchParams({ status: 'busy' }));
    expect(busy).toEqual([]);
  },
);

test('direct changes that the server does not allow are reported as not checked', async () => {
  const { code, report } = await conformance(
    { plainWrites: false, transactions: 'none' },
    '--direct-changes --only concurrent-edits',
  );
  expect(code).toBe(0);
  expect(report.results.find(({ check }) => check === 'a time booked in the EHR is unavailable')).toMatchObject({
    outcome: 'not_checked',
  });
});
