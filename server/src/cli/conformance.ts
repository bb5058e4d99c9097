import type { Capabilities, CareUnit } from '@crossward/connector-kit';
import {
  type ClockChange,
  capabilities,
  type Facts,
  formatReport,
  type Report,
  type RunOptions,
  runConformance,
} from '@crossward/connector-kit/conformance';
import { Command, Option } from 'commander';
import type { ChosenEmr } from '../ehr/check-connection.ts';
import { openSubject } from '../ehr/conformance-subject.ts';
import { IdentifierError } from '../identifiers/index.ts';
import { parsePatientIdentifier, parseResourceIdentifier } from '../identifiers/notation.ts';
import { defaultClockChangeSlots, parseClockChange } from './clock-change.ts';
import { exitCodes, UsageError } from './exit-codes.ts';
import { chooseEmr, type EmrOptions, openDatabaseFor } from './open-emr.ts';
import type { Output } from './output.ts';
import { type JsonOption, jsonOption, printJson } from './print-json.ts';

interface Options extends EmrOptions, JsonOption {
  readonly careUnit?: string;
  readonly otherCareUnit?: string;
  readonly patient?: string[];
  readonly unknownPatient?: string[];
  readonly ambiguousPatient?: string[];
  readonly inactivePatient?: string[];
  readonly newPatient?: string[];
  readonly writtenNumber?: string[];
  readonly writtenPhone?: string[];
  readonly otherPatient?: string;
  readonly resource?: string[];
  readonly service?: string;
  readonly from?: Date;
  readonly until?: Date;
  readonly only?: string[];
  readonly oneSlot?: boolean;
  readonly clockChange?: string[];
  readonly clockChangeSlots?: string;
  readonly directChanges?: boolean;
  readonly readOnly?: boolean;
}

const explanation = `
Checks that a connector does what it claims and nothing else. Books appointments for the synthetic patient of --patient
and cancels them again. Without --patient or with --read-only, writes nothing.
With --direct-changes, also cancels these appointments, changes their comments and books times directly in the EHR, with
the credentials of the connection.
Checks that need options you did not give are reported as not checked.`;

const hint = 'Nothing was booked. To check bookings too, name a synthetic patient with --patient.\n';

export function conformanceCommand(output: Output, end: (exitCode: number) => void): Command {
  return new Command('conformance')
    .description('Check the claims of a connector against a live EHR.')
    .option('-c, --config <file>', 'configuration file (default: CROSSWARD_CONFIG, otherwise the demo)')
    .option('-e, --emr <id>', 'EHR id; required if the configuration has several')
    .option('--care-unit <id>', 'care unit (default: the first)')
    .option('--other-care-unit <id>', 'care unit whose resources must not be visible (default: the next)')
    .option('--patient <identifier...>', 'synthetic patient, with one identifier per type: emr_id:p-1 nhs_number:…')
    .option('--unknown-patient <identifier...>', 'identifiers without a patient')
    .option('--ambiguous-patient <identifier...>', 'national numbers of several people')
    .option('--inactive-patient <identifier...>', 'patients whose record is out of use, or who have died')
    .option('--written-number <identifier...>', 'numbers that the EHR has in another spelling, such as with a hyphen')
    .option('--written-phone <id=number...>', 'emr_id of a patient whose phone number has other signs, and it in E.164')
    .option('--new-patient <identifier...>', 'national numbers without a patient: the kit creates patients with them')
    .option('--other-patient <id>', 'emr_id of another patient')
    .option('--resource <identifier...>', 'resource, with one identifier per type')
    .option('--service <id>', 'healthcare service of the resource')
    .addOption(new Option('--from <date>', 'start of the search for free slots (default: tomorrow)').argParser(date))
    .addOption(new Option('--until <date>', 'end of the search (default: 60 days later)').argParser(date))
    .addOption(
      new Option('--only <capability...>', 'check only these capabilities').choices(
        capabilities.map(({ name }) => name),
      ),
    )
    .option('--one-slot', 'an appointment of this EHR takes exactly one time slot')
    .option(
      '--clock-change <date...>',
      'date on which the clock changes: 2030-03-31, or 2030-03-31:<resource>:<service> (default: those of --resource ' +
        'and --service). All slots of that night must be free',
    )
    .option(
      '--clock-change-slots <times>',
      `the slots on these dates: local times and minutes of each slot (default: ${defaultClockChangeSlots})`,
    )
    .option(
      '--direct-changes',
      'also change appointments directly in the EHR, and check that the connector handles these changes',
    )
    .option('--read-only', 'write nothing in the EHR')
    .option(...jsonOption)
    .addHelpText('after', explanation)
    .action(async (options: Options) => {
      const report = await check(options, output);
      if (options.json) printJson(output, report);
      else output.out(formatReport(report) + (options.patient === undefined ? hint : ''));
      end(report.failed > 0 ? exitCodes.failed : exitCodes.fine);
    });
}

async function check(options: Options, output: Output): Promise<Report> {
  if (options.directChanges && isReadOnly(options)) {
    throw new UsageError(
      '--direct-changes needs --patient, and cannot be used with --read-only: it writes in the EHR.',
    );
  }
  const chosen = await chooseEmr(options);
  if (options.directChanges && !chosen.module.directChanges) {
    throw new UsageError(`The connector ${chosen.module.name} cannot change appointments directly in the EHR.`);
  }
  const careUnits = careUnitsOf(chosen, options);
  const database = await openDatabaseFor(chosen);
  try {
    const known = {
      ...careUnits,
      factsOf: (claims: Capabilities) => factsOf(chosen, claims, options),
      clockChangesOf: (facts: Facts) => clockChangesOf(careUnits.careUnit, facts, options),
      directChanges: options.directChanges,
    };
    const subject = await openSubject(chosen, known, database?.pool);
    try {
      return await runConformance(subject, {
        only: options.only,
        readOnly: isReadOnly(options),
        onResult: teller(output),
      });
    } finally {
      await subject.close?.();
    }
  } finally {
    await database?.close();
  }
}

function isReadOnly({ readOnly, patient }: Options): boolean {
  return readOnly ?? patient === undefined;
}

interface CareUnits {
  readonly careUnit: CareUnit;
  readonly otherCareUnit: CareUnit | undefined;
}

function careUnitsOf({ emr }: ChosenEmr, options: Options): CareUnits {
  const all = emr.care_units.map(({ id, time_zone }): CareUnit => ({ id, timeZone: time_zone }));
  const named = (id: string) => {
    const found = all.find((it) => it.id === id);
    if (found) return found;
    throw new UsageError(`${emr.id} has no care unit ${id}. Known care units: ${all.map((it) => it.id).join(', ')}.`);
  };
  const careUnit = options.careUnit === undefined ? all[0] : named(options.careUnit);
  if (!careUnit) throw new UsageError(`${emr.id} has no care unit.`);
  const otherCareUnit =
    options.otherCareUnit === undefined ? all.find((it) => it.id !== careUnit.id) : named(options.otherCareUnit);
  return { careUnit, otherCareUnit };
}

function factsOf({ emr }: ChosenEmr, claims: Capabilities, options: Options): Facts {
  const synthetic = emr.synthetic_identifiers;
  const numbers = { synthetic, checkDigits: emr.check_digits, reserveNumbers: emr.reserve_numbers };
  const patients = { types: claims.patientIdentifierTypes, ...numbers };
  const resources = { types: claims.resourceIdentifierTypes, ...numbers };
  const day = 24 * 60 * 60 * 1000;
  const start = options.from ?? new Date(Date.now() + day);
  const read = (option: string, texts: readonly string[] | undefined) =>
    texts?.map(reader(option, (text) => parsePatientIdentifier(text, patients), synthetic));
  return {
    patient: read('--patient', options.patient),
    unknownPatients: read('--unknown-patient', options.unknownPatient),
    ambiguousPatients: read('--ambiguous-patient', options.ambiguousPatient),
    inactivePatients: read('--inactive-patient', options.inactivePatient),
    newPatients: read('--new-patient', options.newPatient),
    numbersAsWritten: read('--written-number', options.writtenNumber),
    phonesAsWritten: options.writtenPhone && Object.fromEntries(options.writtenPhone.map(phoneOf)),
    otherPatientId: options.otherPatient,
    resource: options.resource?.map(
      reader('--resource', (text) => parseResourceIdentifier(text, resources), synthetic),
    ),
    healthcareServiceId: options.service,
    oneSlotOnly: options.oneSlot,
    window: { start, end: options.until ?? new Date(start.getTime() + 60 * day) },
  };
}

function clockChangesOf(
  { timeZone }: CareUnit,
  { resource, healthcareServiceId }: Facts,
  options: Options,
): ClockChange[] {
  const resourceId = resource?.find(({ type }) => type === 'emr_id')?.value;
  const defaults = { timeZone, resourceId, healthcareServiceId, slots: options.clockChangeSlots };
  return (options.clockChange ?? []).map((text) => parseClockChange(text, defaults));
}

/** Makes a parser for the identifiers of an option. Its errors name the option. */
function reader<Result>(option: string, parse: (text: string) => Result, synthetic: boolean): (text: string) => Result {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof IdentifierError)) throw error;
      const hint =
        !synthetic && error.reason === 'identifier_malformed' ? ' This EHR has synthetic_identifiers: false.' : '';
      throw new UsageError(`${option}: ${error.message}${hint}`);
    }
  };
}

function date(text: string): Date {
  const value = new Date(text);
  if (Number.isNaN(value.getTime())) throw new UsageError(`Invalid date: ${text}. Use the format 2030-05-06.`);
  return value;
}

const signs = { passed: '✓', failed: '✗', not_checked: '·', not_claimed: ' ' } as const;

/** Says after each check how far the run is. The rest is estimated to take as long for each check as those before. */
function teller(output: Output): RunOptions['onResult'] {
  const start = performance.now();
  return ({ capability, check, outcome }, { done, of }) => {
    if (outcome === 'not_claimed') return;
    const minutes = Math.ceil(((performance.now() - start) / done / 60_000) * (of - done));
    const rest = done < of ? `, about ${minutes} min left` : '';
    output.err(`${signs[outcome]} ${capability}: ${check} (${done} of ${of}${rest})\n`);
  };
}

/** `p-6=+46701740605` */
function phoneOf(text: string): [id: string, phone: string] {
  const [, id, phone] = /^(.+)=(\+\d{5,15})$/.exec(text) ?? [];
  if (id !== undefined && phone !== undefined) return [id, phone];
  throw new UsageError('--written-phone must have the form id=+4790000001');
}
