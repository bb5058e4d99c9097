import type { CareUnit } from '@crossward/connector-kit';
import { namesOfProfessionals } from '../directory.ts';
import type { Ehr } from '../ehr.ts';

/** What a row names. */
interface Naming {
  readonly healthprof: number | null;
  readonly speciality: number | null;
}

/** What appointments of a care unit can name. */
export interface CareUnitNames {
  readonly careUnitId: string;
  has(kind: 'resource' | 'service', id: string): boolean;
  /** Of health professionals who are no resource of the care unit, too. `null`: it is not known. */
  nameOf(healthprof: number): string | null;
}

/** Of professionals and specialities that are not listed, it asks once more: staff may have entered them a moment ago. */
export async function careUnitNames(ehr: Ehr, careUnit: CareUnit, rows: readonly Naming[]): Promise<CareUnitNames> {
  const professionals = idsIn(rows.map(({ healthprof }) => healthprof));
  const specialities = idsIn(rows.map(({ speciality }) => speciality));
  const { directory, rpc } = ehr;
  const complete = await directory.find(careUnit, (it) => {
    const knows = (ids: readonly number[], listed: readonly { readonly id: string }[]) =>
      ids.every((id) => listed.some((one) => one.id === String(id)));
    return knows(professionals, it.resources) && knows(specialities, it.services) ? it : undefined;
  });
  const { resources, services } = complete ?? (await directory.of(careUnit));
  const names = new Map(resources.map(({ id, name }) => [id, name]));
  const unlisted = professionals.filter((id) => !names.has(String(id)));
  const others = unlisted.length === 0 ? new Map<number, string>() : await namesOfProfessionals(rpc, unlisted);
  const listed = {
    resource: new Set(names.keys()),
    service: new Set(services.map(({ id }) => id)),
  };
  return {
    careUnitId: careUnit.id,
    has: (kind, id) => listed[kind].has(id),
    nameOf: (id) => names.get(String(id)) ?? others.get(id) ?? null,
  };
}

function idsIn(ids: readonly (number | null)[]): readonly number[] {
  return [...new Set(ids.flatMap((id) => id ?? []))];
}
