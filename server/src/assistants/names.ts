import type { CareUnitClient, List } from '@crossward/client';
import type { Desk } from './desk.ts';
import { dataText } from './texts.ts';

/** Names by id, as data for a model. */
export interface Names {
  readonly careUnits: ReadonlyMap<string, string>;
  readonly services: ReadonlyMap<string, string>;
  readonly resources: ReadonlyMap<string, string>;
}

export const noNames: Names = { careUnits: new Map(), services: new Map(), resources: new Map() };

/** Milliseconds. */
const timeoutMs = 10_000;
const longestPage = 500;

/** The names at these care units. Those that the gateway does not tell are left out: a write whose result they are part of was made. */
export async function namesAt(desk: Desk, careUnitIds: readonly string[]): Promise<Names> {
  const query = { limit: longestPage };
  const units = [...new Set(careUnitIds)].map((id) => desk.at(id));
  const all = <Named>(list: (unit: CareUnitClient) => List<Named>) =>
    Promise.all(
      units.map((unit) =>
        list(unit)
          .all()
          .catch(() => []),
      ),
    ).then((lists) => lists.flat());
  const [careUnits, services, resources] = await Promise.all([
    desk.careUnits().catch(() => []),
    all(({ healthcareServices }) => healthcareServices.list(query, { timeoutMs })),
    all(({ resources }) => resources.list(query, { timeoutMs })),
  ]);
  return { careUnits: namesOf(careUnits), services: namesOf(services), resources: namesOf(resources) };
}

function namesOf(named: readonly { readonly id: string; readonly name: string }[]): ReadonlyMap<string, string> {
  return new Map(named.map(({ id, name }) => [id, dataText(name)]));
}
