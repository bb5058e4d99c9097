import type { Reference } from './records.ts';

const withoutVersion = /^([A-Za-z]+\/[A-Za-z0-9.-]{1,64})(\/_history\/|$)/;

/** Finds references to resources of the practice. One to another server is to another resource, though the id be the same. */
export interface References {
  /** The first to a resource of this type, such as `Patient/2`, without a version. */
  to(type: string, references: readonly (Reference | undefined)[] | undefined): string | undefined;
}

/** @param bases the addresses at which the practice's resources are. References can be relative, too */
export function referencesAt(bases: readonly string[]): References {
  return {
    to(type, references = []) {
      for (const it of references) {
        const whole = it?.reference ?? '';
        const base = bases.find((own) => whole.startsWith(`${own}/`));
        const relative = base === undefined ? whole : whole.slice(base.length + 1);
        const [, found] = withoutVersion.exec(relative) ?? [];
        if (found?.startsWith(`${type}/`)) return found;
      }
      return undefined;
    },
  };
}
