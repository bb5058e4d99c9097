import type { Desk } from './desk.ts';
import { dataText } from './texts.ts';

/** Names by id, as data for a model. */
export interface Names {
  readonly services: ReadonlyMap<string, string>;
  readonly resources: ReadonlyMap<string, string>;
}

export const noNames: Names = { services: new Map(), resources: new Map() };

/** Milliseconds. */
const timeoutMs = 10_000;
const longestPage = 500;

/** The names at the care unit. Those that the gateway does not tell are left out: a write whose result they are part of was made. */
export async function namesAt({ careUnit }: Desk): Promise<Names> {
  const query = { limit: longestPage };
  const [services, resources] = await Promise.all([
    careUnit.healthcareServices
      .list(query, { timeoutMs })
      .all()
      .catch(() => []),
    careUnit.resources
      .list(query, { timeoutMs })
      .all()
      .catch(() => []),
  ]);
  return { services: namesOf(services), resources: namesOf(resources) };
}

function namesOf(named: readonly { readonly id: string; readonly name: string }[]): ReadonlyMap<string, string> {
  return new Map(named.map(({ id, name }) => [id, dataText(name)]));
}
