import type { ConnectorContext, ProbeReport, ServerDescription } from '@crossward/connector-kit';
import { probeSteps, type Report } from '@crossward/connector-kit/rest';
import { type At, type Ehr, isAt, openEhr, resourceIdOf, serviceOf } from './ehr.ts';
import type { FhirResource } from './fhir.ts';
import type { GpConnectSettings, ServiceSettings } from './settings.ts';
import { type FreeSlot, freeSlots, type SlotPage } from './slots.ts';

const fortnight = 14 * 24 * 60 * 60 * 1000;

/** Asks the practice for its version and for the free slots of two weeks, and compares them with the settings. */
export async function probeGpConnect(context: ConnectorContext<GpConnectSettings>): Promise<ProbeReport> {
  const { findings, step } = probeSteps();
  const services = await step('practice', async () => {
    const ehr = openEhr(context);
    const version = await versionOf(ehr);
    const isKnown = typeof version === 'string' && version.startsWith('1.2.');
    const words = `The practice’s system has GP Connect ${shown(version)}; the connector is made for 1.2.7.`;
    await step('version', async (report) => report(isKnown ? 'ok' : 'warning', words));
    const start = ehr.now();
    const { value: page } = await freeSlots(ehr, { start, end: new Date(start.getTime() + fortnight) }).next();
    const slots = page?.slots ?? [];
    const offered = `The practice offers ${slots.length} free slots in the next two weeks to this organisation.`;
    await step('free slots', async (report) => report(slots.length > 0 ? 'ok' : 'warning', offered));
    const lacking = recommendedServices(slots, ehr);
    await step('healthcare services', (report) => reportServices(lacking, report));
    for (const it of context.careUnits) {
      const at = ehr.at(it);
      await step(`resources of ${it.id}`, (report) => reportResources(at, slots, page?.names, report));
    }
    return lacking;
  });
  const known = context.settings.healthcare_services ?? [];
  return { findings, recommendedSettings: services?.length ? { healthcare_services: [...known, ...services] } : {} };
}

/** The version of GP Connect at the practice. */
export async function describeGpConnect(context: ConnectorContext<GpConnectSettings>): Promise<ServerDescription> {
  return { software: [shown(await versionOf(openEhr(context)))] };
}

async function versionOf({ client }: Ehr): Promise<unknown> {
  type Statement = FhirResource & { readonly version?: unknown };
  return (await client.read<Statement>('read:metadata-1', 'metadata', 'CapabilityStatement')).version;
}

/** Slot types that the settings do not name, as services. */
function recommendedServices(slots: readonly FreeSlot[], ehr: Ehr): ServiceSettings[] {
  const types = new Set(slots.filter((it) => !serviceOf(ehr, it)).flatMap((it) => it.slotType ?? []));
  return [...types].sort().map((name) => ({ id: idOf(name), name, slot_type: name }));
}

async function reportServices({ length }: readonly ServiceSettings[], report: Report): Promise<void> {
  if (length === 0) return report('ok', 'The settings name every slot type.');
  report('warning', `Slots of ${length} types cannot be booked, because healthcare_services does not name them.`);
}

async function reportResources(
  at: At,
  slots: readonly FreeSlot[],
  names: SlotPage['names'] = new Map(),
  report: Report,
): Promise<void> {
  const isListed = (it: FreeSlot) => at.unit.resources.some(({ id }) => id === resourceIdOf(it));
  const missing = slots.filter((it) => isAt(at, it) && !isListed(it)).map((it) => it.practitioner ?? it.location);
  if (missing.length === 0) return report('ok', 'The settings name everybody with a free slot.');
  const list = [...new Set(missing)].sort().map((it) => `${it} (${names.get(it) ?? 'no name'})`);
  report('warning', `Not in the settings of the care unit: ${list.join(', ')}.`);
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
