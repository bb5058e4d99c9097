import { Counter, Gauge, type Registry } from 'prom-client';

/** What became of the configuration file since this process reads it. It changes in place. */
export interface ConfigurationState {
  /** Absent: the newest file is in use. */
  readonly refused?: RefusedFile | undefined;
  /** Stored EHRs that this process does not use as they are stored. */
  readonly unused: readonly { readonly emr: string; readonly since: Date; readonly text: string }[];
  /** Settings of the file in use that take effect at a restart, such as `http.public_url`. */
  readonly waiting: readonly string[];
}

/** A file that is not used: what was in use before goes on. */
export interface RefusedFile {
  readonly since: Date;
  /** Never with a secret. */
  readonly mistakes: readonly string[];
}

export interface ConfigurationWatch {
  readonly state: ConfigurationState;
  /** @param outcome `unchanged`: the file is as it was */
  used(outcome: 'changed' | 'unchanged', waiting: readonly string[]): void;
  /** Returns whether the mistakes are others than before. */
  refused(mistakes: readonly string[]): boolean;
  /** Returns those that are not known yet, or have another text. */
  unused(emrs: readonly UnusedStored[]): readonly UnusedStored[];
}

interface UnusedStored {
  readonly emr: string;
  /** Why. Never with a secret. */
  readonly text: string;
}

/** @param now the database's time */
export function watchConfiguration(registry: Registry, now: () => Date): ConfigurationWatch {
  const state: { -readonly [Key in keyof ConfigurationState]: ConfigurationState[Key] } = { waiting: [], unused: [] };
  const reloads = new Counter({
    name: 'crossward_configuration_reloads_total',
    help: 'How often the configuration file was read again, by outcome: changed, unchanged or refused.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  new Gauge({
    name: 'crossward_configuration_refused',
    help: '1 while the configuration file is not used because of a mistake, with its place (file:line:column). Otherwise 0.',
    labelNames: ['place'],
    registers: [registry],
    collect() {
      this.reset();
      const { refused } = state;
      this.set({ place: refused ? placeOf(refused.mistakes) : '' }, refused ? 1 : 0);
    },
  });
  new Gauge({
    name: 'crossward_stored_emrs_unused',
    help: 'Stored EHRs that this process does not use as they are stored. The log and the console have the reason.',
    registers: [registry],
    collect() {
      this.set(state.unused.length);
    },
  });
  return {
    state,
    unused(emrs) {
      const before = new Map(state.unused.map((it) => [it.emr, it]));
      state.unused = emrs.map((it) => ({ ...it, since: before.get(it.emr)?.since ?? now() }));
      return emrs.filter(({ emr, text }) => before.get(emr)?.text !== text);
    },
    used(outcome, waiting) {
      reloads.inc({ outcome });
      state.waiting = waiting;
      state.refused = undefined;
    },
    refused(mistakes) {
      reloads.inc({ outcome: 'refused' });
      const before = state.refused;
      state.refused = { since: before?.since ?? now(), mistakes };
      return before?.mistakes.join('\n') !== mistakes.join('\n');
    },
  };
}

/** Where the first mistake is: `file:line:column`. Empty: it has no place in the file. */
function placeOf([first = '']: readonly string[]): string {
  return /^.*?:\d+:\d+(?=: )/.exec(first)?.[0] ?? '';
}
