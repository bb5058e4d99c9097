import { type ConnectorContext, ConnectorError, type ProbeFinding, type ProbeReport } from '@crossward/connector-kit';
import Type from 'typebox';
import type { Ehr } from './ehr.ts';
import { openEhr } from './open-ehr.ts';
import { probeCalendars } from './probe-calendars.ts';
import { idSchema } from './rpc/rows.ts';
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
  const findings: ProbeFinding[] = [];
  const ehr = await attempt(findings, 'sign-in', async () => {
    const opened = openEhr(context);
    await opened.rpc.userId();
    findings.push({ name: 'sign-in', status: 'ok', detail: 'The server can be reached, and the user can sign in.' });
    return opened;
  });
  if (ehr) {
    await attempt(findings, 'modules', () => probeModules(ehr, findings));
    await attempt(findings, 'access rights', () => probeRights(ehr, findings));
    const institutions = context.careUnits.map((careUnit) => ehr.directory.institutionOf(careUnit));
    await attempt(findings, 'calendars', async () => void findings.push(await probeCalendars(ehr, institutions)));
    for (const careUnit of context.careUnits) {
      const name = `care unit ${careUnit.id}`;
      await attempt(findings, name, async () => void findings.push(await probeCareUnit(ehr, careUnit, name)));
    }
    findings.push(notesFinding(context.settings));
  }
  return { findings, recommendedSettings: {} };
}

async function attempt<Result>(
  findings: ProbeFinding[],
  name: string,
  run: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await run();
  } catch (error) {
    const detail = error instanceof ConnectorError ? `${error.message}.` : 'The test failed.';
    findings.push({ name, status: 'problem', detail });
    return undefined;
  }
}

async function probeModules({ rpc }: Ehr, findings: ProbeFinding[]): Promise<void> {
  const modules = await rpc.searchRead({
    model: 'ir.module',
    row: moduleSchema,
    domain: [
      ['state', '=', 'activated'],
      ['name', 'in', ['health', 'health_calendar']],
    ],
  });
  const version = (name: string) => modules.find((it) => it.name === name)?.version;
  const health = version('health');
  const calendar = version('health_calendar');
  findings.push(
    health === undefined
      ? { name: 'modules', status: 'problem', detail: 'The module health is not activated.' }
      : calendar === undefined
        ? {
            name: 'modules',
            status: 'problem',
            detail: 'The module health_calendar is not activated: appointments have no end.',
          }
        : { name: 'modules', status: 'ok', detail: `health ${health}, health_calendar ${calendar}.` },
  );
}

async function probeRights({ rpc }: Ehr, findings: ProbeFinding[]): Promise<void> {
  const models = needed.map(([model]) => model);
  const rights = (await rpc.call('model.ir.model.access.get_access', [models])) as Readonly<
    Record<string, Readonly<Partial<Record<Right, unknown>>> | undefined>
  >;
  const missing = needed.flatMap(([model, wanted]) =>
    wanted.filter((right) => !rights[model]?.[right]).map((right) => `${right} ${model}`),
  );
  findings.push(
    missing.length === 0
      ? { name: 'access rights', status: 'ok', detail: 'The user may read and write what the gateway needs.' }
      : {
          name: 'access rights',
          status: 'problem',
          detail: `The user may not ${missing.join(', ')}. It needs the groups Health Front Desk and Health Doctor.`,
        },
  );
}

async function probeCareUnit(ehr: Ehr, careUnit: ConnectorContext<unknown>['careUnits'][number], name: string) {
  const { institution, resources, services } = await ehr.directory.of(careUnit);
  if (resources.length === 0) {
    return finding(name, 'problem', `Institution ${institution} has no health professional.`);
  }
  const free = async (terms: readonly unknown[]) =>
    Number(
      await ehr.rpc.call('model.gnuhealth.appointment.search_count', [
        [
          ['state', '=', 'free'],
          ['institution', '=', institution],
          ['appointment_date', '>', toRpc(ehr.rpc.now())],
          ...terms,
        ],
      ]),
    );
  const offered = services.map(({ id }) => Number(id));
  const count = await free([]);
  const unlisted = await free([['OR', ['speciality', '=', null], ['speciality', 'not in', offered]]]);
  if (unlisted > 0) {
    return finding(
      name,
      'warning',
      `${unlisted} of ${count} free appointments are not offered: no health professional of the institution has their specialty.`,
    );
  }
  return count === 0
    ? finding(name, 'warning', `Institution ${institution} has no free appointment in the future.`)
    : finding(
        name,
        'ok',
        `${resources.length} health professionals, ${services.length} specialties, ${count} free appointments.`,
      );
}

function notesFinding({ note_author }: GnuHealthSettings): ProbeFinding {
  return note_author === undefined
    ? finding('medical notes', 'note', 'Evaluations are read. Set note_author to write them.')
    : finding('medical notes', 'ok', 'Evaluations are read and written.');
}

function finding(name: string, status: ProbeFinding['status'], detail: string): ProbeFinding {
  return { name, status, detail };
}
