import type { ConnectorContext, EhrPlace, ProbeReport, ServerDescription } from '@crossward/connector-kit';
import { probeSteps, type Report } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';
import { type At, type Ehr, openEhr } from './ehr.ts';
import { equal } from './rpc/client.ts';
import { idSchema, nullable, textSchema } from './rpc/rows.ts';
import { toRpc } from './rpc/values.ts';
import type { GnuHealthSettings } from './settings.ts';

const needed: readonly (readonly [string, readonly Right[]])[] = [
  ['gnuhealth.appointment', ['read', 'write', 'create', 'delete']],
  ['gnuhealth.patient', ['read', 'write']],
  ['gnuhealth.healthprofessional', ['read']],
  ['gnuhealth.patient.evaluation', ['read', 'create']],
  ['ir.attachment', ['read', 'create']],
  ['ir.model.log', ['read']],
];
const moduleSchema = Type.Object({ id: idSchema, name: Type.String(), version: Type.String() });
type Right = 'read' | 'write' | 'create' | 'delete';

/** `crossward emr check`: whether the user can sign in, what it may do, and whether the care units have what can be booked. */
export async function probe(context: ConnectorContext<GnuHealthSettings>): Promise<ProbeReport> {
  const { findings, step } = probeSteps();
  const ehr = await step('sign-in', async (report) => {
    const opened = openEhr(context);
    await opened.client.userId();
    report('ok', 'The server can be reached, and the user can sign in.');
    return opened;
  });
  if (ehr) {
    await step('modules', (report) => probeModules(ehr, report));
    await step('access rights', (report) => probeRights(ehr, report));
    const institutions = context.careUnits.map((careUnit) => ehr.at(careUnit).unit.institution);
    await step('calendars', (report) => probeCalendars(ehr, institutions, report));
    for (const careUnit of context.careUnits) {
      await step(`care unit ${careUnit.id}`, (report) => probeCareUnit(ehr.at(careUnit), report));
    }
    await step('medical notes', async (report) => {
      if (context.settings.note_author !== undefined) return report('ok', 'Evaluations are read and written.');
      return report('note', 'Evaluations are read. Set note_author to write them.');
    });
  }
  return { findings, recommendedSettings: {} };
}

/** The modules with their versions. */
export async function describe(context: ConnectorContext<GnuHealthSettings>): Promise<ServerDescription> {
  const modules = await modulesOf(openEhr(context));
  return { software: modules.map(({ name, version }) => `${name} ${version}`) };
}

const institutionSchema = Type.Object({ id: idSchema, code: textSchema });

/** The institutions, by their codes. */
export async function places(context: ConnectorContext<GnuHealthSettings>): Promise<readonly EhrPlace[]> {
  const { client } = openEhr(context);
  const rows = await client.searchRead({
    model: 'gnuhealth.institution',
    row: institutionSchema,
    domain: [],
    limit: 500,
  });
  return rows.map(({ id, code }) => ({ name: code || `Institution ${id}`, settings: { institution: id } }));
}

function modulesOf({ client }: Ehr) {
  const domain = [...equal({ state: 'activated' }), ['name', 'in', ['health', 'health_calendar']]];
  return client.searchRead({ model: 'ir.module', row: moduleSchema, domain });
}

async function probeModules(ehr: Ehr, report: Report): Promise<void> {
  const modules = await modulesOf(ehr);
  const version = (name: string) => modules.find((it) => it.name === name)?.version;
  const health = version('health');
  const calendar = version('health_calendar');
  if (health === undefined) return report('problem', 'The module health is not activated.');
  if (calendar !== undefined) return report('ok', `health ${health}, health_calendar ${calendar}.`);
  return report('problem', 'The module health_calendar is not activated: appointments have no end.');
}

async function probeRights({ client }: Ehr, report: Report): Promise<void> {
  const models = needed.map(([model]) => model);
  const rights = (await client.call('model.ir.model.access.get_access', [models])) as Readonly<
    Record<string, Readonly<Partial<Record<Right, unknown>>> | undefined>
  >;
  const missing = needed.flatMap(([model, wanted]) =>
    wanted.filter((right) => !rights[model]?.[right]).map((right) => `${right} ${model}`),
  );
  if (missing.length === 0) return report('ok', 'The user may read and write what the gateway needs.');
  const needs = 'It needs the groups Health Front Desk and Health Doctor.';
  return report('problem', `The user may not ${missing.join(', ')}. ${needs}`);
}

async function probeCareUnit(at: At, report: Report): Promise<void> {
  const { institution } = at.unit;
  const { resources, services } = await at.lists.get();
  if (resources.length === 0) {
    return report('problem', `Institution ${institution} has no health professional.`);
  }
  const future = [...equal({ state: 'free', institution }), ['appointment_date', '>', toRpc(at.client.now())]];
  const free = async (terms: readonly unknown[]) =>
    Number(await at.client.call('model.gnuhealth.appointment.search_count', [[...future, ...terms]]));
  const offered = services.map(({ id }) => Number(id));
  const count = await free([]);
  const unlisted = await free([['OR', ['speciality', '=', null], ['speciality', 'not in', offered]]]);
  if (unlisted > 0) {
    const why = 'no health professional of the institution has their specialty.';
    return report('warning', `${unlisted} of ${count} free appointments are not offered: ${why}`);
  }
  if (count === 0) return report('warning', `Institution ${institution} has no free appointment in the future.`);
  const known = `${resources.length} health professionals, ${services.length} specialties`;
  return report('ok', `${known}, ${count} free appointments.`);
}

const calendarSchema = Type.Object({
  id: idSchema,
  owner: idSchema,
  read_users: Type.Array(idSchema),
  write_users: Type.Array(idSchema),
});
const professionalSchema = Type.Object({
  id: idSchema,
  'party.': Type.Object({ 'internal_user.': nullable(Type.Object({ calendar: nullable(idSchema) })) }),
});

/**
 * GNU Health keeps an event in the calendar of a health professional who has one, for each appointment that staff have booked,
 * and changes it with the appointment. A user who may not change the event cannot move the appointment either.
 */
async function probeCalendars({ client }: Ehr, institutions: readonly number[], report: Report): Promise<void> {
  const withCalendar = ['party.internal_user.calendar', '!=', null];
  const [userId, professionals] = await Promise.all([
    client.userId(),
    client.searchRead({
      model: 'gnuhealth.healthprofessional',
      row: professionalSchema,
      domain: [withCalendar, ['institution', 'in', institutions]],
    }),
  ]);
  const ids = professionals.flatMap((it) => it['party.']['internal_user.']?.calendar ?? []);
  const domain = [['id', 'in', ids]];
  const visible = await client.searchRead({ model: 'calendar.calendar', row: calendarSchema, domain });
  const writable = new Set(visible.filter((it) => mayWrite(it, userId)).map(({ id }) => id));
  const refused = ids.filter((id) => !writable.has(id)).length;
  if (refused === 0) return report('ok', 'The user may change the calendars of the professionals.');
  const detail =
    `The user may not change the calendars of ${refused} health professionals: the EHR refuses to move the appointments ` +
    'that staff have booked with them. It needs the group Calendar Group Administration.';
  return report('problem', detail);
}

/** A user who sees a calendar of somebody else, without being named as its reader, is an administrator of calendars. */
function mayWrite({ owner, read_users, write_users }: Static<typeof calendarSchema>, userId: number): boolean {
  return owner === userId || write_users.includes(userId) || !read_users.includes(userId);
}
