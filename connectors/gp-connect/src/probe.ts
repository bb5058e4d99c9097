import {
  type ConnectorContext,
  ConnectorError,
  type ProbeFinding,
  type ProbeReport,
  type ServerDescription,
} from '@crossward/connector-kit';
import { type At, type Ehr, isAt, openEhr, resourceIdOf, serviceOf } from './ehr.ts';
import type { FhirResource } from './fhir.ts';
import type { GpConnectSettings, ServiceSettings } from './settings.ts';
import { type FreeSlot, freeSlots } from './slots.ts';

const fortnight = 14 * 24 * 60 * 60 * 1000;

/** Asks the practice for its version and for the free slots of two weeks, and compares them with the settings. */
export async function probeGpConnect(context: ConnectorContext<GpConnectSettings>): Promise<ProbeReport> {
  const findings: ProbeFinding[] = [];
  try {
    const ehr = openEhr(context);
    const version = await versionOf(ehr);
    const isKnown = typeof version === 'string' && version.startsWith('1.2.');
    findings.push({
      name: 'version',
      status: isKnown ? 'ok' : 'warning',
      detail: `The practice’s system has GP Connect ${shown(version)}; the connector is made for 1.2.7.`,
    });
    const start = ehr.now();
    const range = { start, end: new Date(start.getTime() + fortnight) };
    const { value: page } = await freeSlots(ehr, range).next();
    const slots = page?.slots ?? [];
    const services = recommendedServices(slots, ehr);
    findings.push(slotFinding(slots), serviceFinding(services));
    findings.push(...context.careUnits.map((it) => resourceFinding(ehr.at(it), slots, page?.names ?? new Map())));
    const all = [...(ehr.settings.healthcare_services ?? []), ...services];
    return { findings, recommendedSettings: services.length > 0 ? { healthcare_services: all } : {} };
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    findings.push({ name: 'practice', status: 'problem', detail: `${error.message}.` });
    return { findings, recommendedSettings: {} };
  }
}

/** The version of GP Connect at the practice. */
export async function describeGpConnect(context: ConnectorContext<GpConnectSettings>): Promise<ServerDescription> {
  return { software: [shown(await versionOf(openEhr(context)))] };
}

async function versionOf({ client }: Ehr): Promise<unknown> {
  type Statement = FhirResource & { readonly version?: unknown };
  return (await client.read<Statement>('read:metadata-1', 'metadata', 'CapabilityStatement')).version;
}

function slotFinding({ length }: readonly FreeSlot[]): ProbeFinding {
  const detail = `The practice offers ${length} free slots in the next two weeks to this organisation.`;
  return { name: 'free slots', status: length > 0 ? 'ok' : 'warning', detail };
}

/** Slot types that the settings do not name, as services. */
function recommendedServices(slots: readonly FreeSlot[], ehr: Ehr): ServiceSettings[] {
  const types = new Set(slots.filter((it) => !serviceOf(ehr, it)).flatMap((it) => it.slotType ?? []));
  return [...types].sort().map((name) => ({ id: idOf(name), name, slot_type: name }));
}

function serviceFinding(services: readonly ServiceSettings[]): ProbeFinding {
  const name = 'healthcare services';
  if (services.length === 0) return { name, status: 'ok', detail: 'The settings name every slot type.' };
  const detail = `Slots of ${services.length} types cannot be booked, because healthcare_services does not name them.`;
  return { name, status: 'warning', detail };
}

function resourceFinding(at: At, slots: readonly FreeSlot[], names: ReadonlyMap<string, string>): ProbeFinding {
  const isListed = (it: FreeSlot) => at.unit.resources.some(({ id }) => id === resourceIdOf(it));
  const missing = slots.filter((it) => isAt(at, it) && !isListed(it)).map((it) => it.practitioner ?? it.location);
  const name = `resources of ${at.careUnit.id}`;
  if (missing.length === 0) return { name, status: 'ok', detail: 'The settings name everybody with a free slot.' };
  const list = [...new Set(missing)].sort().map((it) => `${it} (${names.get(it) ?? 'no name'})`);
  return { name, status: 'warning', detail: `Not in the settings of the care unit: ${list.join(', ')}.` };
}

/** An id for a setting, from the practice's words. */
function idOf(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'service'
  );
}

/** `unknown` for anything that does not look like a version. */
function shown(version: unknown): string {
  return typeof version === 'string' && /^[\w.-]{1,20}$/.test(version) ? version : 'of an unknown version';
}
