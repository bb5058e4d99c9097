import { isDeepStrictEqual } from 'node:util';
import type { ConnectorModule } from '@crossward/connector-kit';
import type { Configuration, ConfiguredCareUnit, ConfiguredEmr } from '../config/configuration.ts';
import { revealed } from '../config/environment/secret.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { ConfigurationError } from '../startup/configuration-error.ts';
import { closeWhenIdle } from './close-when-idle.ts';
import { type CareUnitConnection, createConnection, type EhrConnection } from './connection.ts';
import { type EhrLink, type LinkDependencies, openLink } from './link.ts';
import { longestWaitMs } from './opening.ts';

/** All configured EHRs by id, in the order of the configuration. It changes with the configuration: ask it at each use. */
export type EhrRegistry = ReadonlyMap<string, EhrConnection>;

/** The EHRs of the gateway, whose configuration can change while it runs. */
export interface Ehrs {
  readonly registry: EhrRegistry;
  /**
   * Opens what another configuration needs, beside what is in use. One that is not applied stays open, or goes on opening, until
   * the next one is prepared, which uses it if it needs the same.
   *
   * @param stored ids of those that operators manage: one that cannot be used hides no other
   * @throws {ConfigurationError} as `openEhrs` does. Then nothing has changed
   */
  prepare(
    emrs: Configuration['emrs'],
    connectors: readonly ConnectorModule[],
    stored?: ReadonlySet<string>,
  ): Promise<EhrChange>;
  /** Call it after the last call has ended. */
  close(): Promise<void>;
}

/** A change of the EHRs that is ready. */
export interface EhrChange {
  /** What will be in use: of stored EHRs that cannot be used, what was in use before. */
  readonly emrs: readonly ConfiguredEmr[];
  readonly unused: readonly UnusedEmr[];
  /** A new connection to a stored EHR may still open soon: prepare the same again. */
  readonly isOpening: boolean;
  readonly added: readonly string[];
  /** With a new connection. */
  readonly reconnected: readonly string[];
  readonly removed: readonly string[];
  /** Those whose new connection could not be opened, although the present one is open, and why if callers may know it. */
  readonly notOpen: readonly { readonly emr: string; readonly detail: string | undefined }[];
  /** From now on, new work uses it. What runs ends on the former connections, which close when they are idle. */
  apply(): void;
}

/** A stored EHR that is not used as it is stored. */
export interface UnusedEmr {
  readonly emr: string;
  /** Why. Never with a secret. */
  readonly text: string;
}

interface Entry {
  readonly emr: ConfiguredEmr;
  readonly link: EhrLink;
  /** `performance.now()` when its opening began. */
  readonly since: number;
}

/** Milliseconds for which a change of a stored EHR waits until it is open: so long can a silent one delay others. */
const storedWaitMs = 500;

/**
 * Opens a connection to every configured EHR. One that is unreachable is opened later.
 *
 * @throws {ConfigurationError} if a connector throws an error other than a `ConnectorError`, or returns no connector
 */
export async function openEhrs(
  { emrs }: Pick<Configuration, 'emrs'>,
  connectors: readonly ConnectorModule[],
  dependencies: LinkDependencies,
  stored?: ReadonlySet<string>,
): Promise<Ehrs & { readonly first: EhrChange }> {
  const { keys, metrics } = dependencies;
  const registry = new Map<string, EhrConnection>();
  let entries: ReadonlyMap<string, Entry> = new Map();
  /** Opened for a change that is not in use yet. */
  let waiting: ReadonlyMap<string, Entry> = new Map();
  let isStarted = false;
  const closing = new Set<ReturnType<typeof closeWhenIdle>>();

  function retire(link: EhrLink): void {
    link.retire();
    const one = closeWhenIdle(link, () => closing.delete(one));
    closing.add(one);
  }

  async function prepare(
    nextEmrs: Configuration['emrs'],
    modules: readonly ConnectorModule[],
    storedIds: ReadonlySet<string> = new Set(),
  ): Promise<EhrChange> {
    const unused: UnusedEmr[] = [];
    /** Of stored EHRs, which go on with the former ones. */
    const notOpenYet = new Map<string, Entry>();
    let isOpening = false;
    const entryOf = async (emr: ConfiguredEmr, waitMs?: number): Promise<Entry> => {
      const module = modules.find(({ name }) => name === emr.connector);
      if (!module) throw new Error(`No connector is named ${emr.connector}`);
      for (const known of [entries.get(emr.id), waiting.get(emr.id)]) {
        if (known?.link.module !== module) continue;
        // As it is known: a file that is read again makes other objects.
        if (isSame(known.emr, emr)) return known;
        if (isSame(linkSettings(known.emr), linkSettings(emr))) return { ...known, emr };
      }
      const since = performance.now();
      return { emr, since, link: await openLink(emr, module, dependencies, entries.has(emr.id), waitMs) };
    };
    /** The entry of a stored EHR, or the former one if it cannot be used. */
    const storedEntryOf = async (emr: ConfiguredEmr): Promise<Entry | undefined> => {
      const known = entries.get(emr.id);
      try {
        const entry = await entryOf(emr, isStarted ? storedWaitMs : undefined);
        if (!isWorse(entry.link, known?.link)) return entry;
        notOpenYet.set(emr.id, entry);
        const isEarly = performance.now() - entry.since < longestWaitMs && entry.link.openingDetail() === undefined;
        isOpening ||= isEarly;
        if (!isEarly) unused.push({ emr: emr.id, text: notOpenText(entry.link.openingDetail()) });
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        unused.push({ emr: emr.id, text: error.mistakes.join('; ') });
      }
      return known;
    };
    const results = await Promise.allSettled(
      nextEmrs.map((emr) => (storedIds.has(emr.id) ? storedEntryOf(emr) : entryOf(emr))),
    );
    const next = new Map(
      results.flatMap((it) => (it.status === 'fulfilled' && it.value ? [[it.value.emr.id, it.value] as const] : [])),
    );
    const failed = results.find((it) => it.status === 'rejected');
    const others = [...next, ...notOpenYet].filter(([id, { link }]) => entries.get(id)?.link !== link);
    await waitWith(failed ? [] : others, others);
    if (failed) throw failed.reason;
    const reconnected = [...next.values()].filter(({ emr, link }) => {
      const known = entries.get(emr.id);
      return known !== undefined && known.link !== link;
    });
    return {
      emrs: [...next.values()].map(({ emr }) => emr),
      unused,
      isOpening,
      added: [...next.keys()].filter((id) => !entries.has(id)),
      reconnected: reconnected.map(({ emr }) => emr.id),
      removed: [...entries.keys()].filter((id) => !next.has(id)),
      notOpen: reconnected
        .filter(({ emr, link }) => isWorse(link, entries.get(emr.id)?.link))
        .map(({ emr, link }) => ({ emr: emr.id, detail: link.openingDetail() })),
      apply() {
        for (const [id, { link }] of entries) {
          if (next.get(id)?.link === link) continue;
          if (!next.has(id)) {
            link.refuseCalls();
            metrics.forget(id);
          }
          retire(link);
        }
        const [before, connections] = [entries, new Map(registry)];
        entries = next;
        waiting = notOpenYet;
        registry.clear();
        for (const [id, { emr, link }] of next) {
          link.putToUse();
          const former = before.get(id);
          // What is kept of an EHR is kept for its connection.
          const kept = former?.emr === emr && former.link === link ? connections.get(id) : undefined;
          registry.set(id, kept ?? connectionOf(emr, link, keys));
          metrics.watch(id, link.watched);
        }
      },
    };
  }

  /** Keeps some of the links that were opened, and closes all others that are not in use. */
  async function waitWith(kept: Iterable<readonly [string, Entry]>, opened: Iterable<readonly [string, Entry]>) {
    const next = new Map(kept);
    const links = new Set([...waiting, ...opened].map(([, { link }]) => link));
    for (const { link } of next.values()) links.delete(link);
    waiting = next;
    await Promise.all([...links].map((link) => link.close()));
  }

  const first = await prepare(emrs, connectors, stored);
  first.apply();
  isStarted = true;
  return {
    registry,
    first,
    prepare,
    async close() {
      await Promise.all([...closing].map((one) => one.close()));
      await Promise.all([...entries.values(), ...waiting.values()].map(({ link }) => link.close()));
    },
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(revealed(one), revealed(other));
}

/** Whether work would notice that a link is replaced by one that is not open. Nothing calls an EHR that is paused. */
function isWorse(next: EhrLink, former: EhrLink | undefined): boolean {
  return !next.calls.isOpen && former?.calls.isOpen === true && former.calls.health().pause === undefined;
}

function notOpenText(detail: string | undefined): string {
  const cause = detail === undefined ? '' : ` (${detail})`;
  return `does not answer with its new settings${cause}; the former connection goes on, unless the EHR is paused`;
}

/** What a connection is opened with. Everything else of an EHR can change without a new one. */
function linkSettings({ connector, settings, connection, care_units }: ConfiguredEmr) {
  const {
    settling_seconds: _,
    give_up_seconds: __,
    changes_seconds: ___,
    user_header: ____,
    ...transport
  } = connection;
  const careUnits = care_units.map(({ id, time_zone, settings }) => ({ id, time_zone, settings }));
  return { connector, settings, transport, careUnits };
}

function connectionOf(emr: ConfiguredEmr, { calls, facts }: EhrLink, keys: KeyRing): EhrConnection {
  const careUnits = emr.care_units.map(careUnitConnection);
  const configured = {
    id: emr.id,
    name: emr.name,
    connector: emr.connector,
    source: keys.hashes('ehr-configuration', JSON.stringify(revealed(linkSettings(emr))))[0].toString('hex'),
    numbers: {
      synthetic: emr.synthetic_identifiers,
      checkDigits: emr.check_digits,
      reserveNumbers: emr.reserve_numbers,
    },
    userHeader: emr.connection.user_header?.toLowerCase(),
    careUnits: new Map(careUnits.map((careUnit) => [careUnit.id, careUnit])),
    times: {
      callSeconds: (emr.connection.timeout_ms + emr.connection.queue_timeout_ms) / 1000,
      settlingSeconds: emr.connection.settling_seconds,
      giveUpSeconds: emr.connection.give_up_seconds,
    },
    changesSeconds: emr.connection.changes_seconds,
  };
  return createConnection({ ...configured, ...facts }, calls);
}

function careUnitConnection({
  id,
  name,
  time_zone,
  language,
  default_country,
  policies,
  patient_page,
  publication,
}: ConfiguredCareUnit): CareUnitConnection {
  return {
    id,
    name,
    timeZone: time_zone,
    language,
    defaultCountry: default_country,
    bookingConfirmation: policies.booking_confirmation,
    cancellationConfirmation: policies.cancellation_confirmation,
    cancellationCodeByEmail: policies.cancellation_code_by_email,
    code: {
      length: policies.code.length,
      lifetimeSeconds: policies.code.lifetime_seconds,
      attempts: policies.code.attempts,
    },
    limitsPerPatient: {
      pending: policies.limits_per_patient.pending,
      codesPerHour: policies.limits_per_patient.codes_per_hour,
    },
    patientPage: patient_page,
    publication,
  };
}
