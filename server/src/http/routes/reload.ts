import type { FastifyInstance } from 'fastify';
import { Problem } from '../../problems/problem.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { checkReloadTokens, reloadHeader } from '../../secrets/reload-token.ts';

/** What became of the wish to read the configuration file again. */
export interface ReloadAnswer {
  /** `unchanged`: the file is as it was. `refused`: the former configuration goes on. */
  readonly outcome: 'changed' | 'unchanged' | 'refused';
  /** EHRs. */
  readonly added: readonly string[];
  /** EHRs with a new connection. */
  readonly reconnected: readonly string[];
  /** EHRs. */
  readonly removed: readonly string[];
  /** Settings that take effect at a restart. */
  readonly waiting: readonly string[];
  /** Why it was refused. */
  readonly mistakes: readonly string[];
}

/** @param isForced EHRs are removed although something is open there, and used although they do not answer */
export type Reload = (isForced: boolean) => Promise<ReloadAnswer>;

/** `POST /reload`, for `crossward reload`. Whoever has no token of the secret key learns nothing of it. */
export function addReload(app: FastifyInstance, keys: KeyRing, reload: Reload): void {
  const isValid = checkReloadTokens(keys);
  app.post<{ Querystring: { readonly force?: string } }>('/reload', async ({ headers, query }) => {
    const isForced = query.force === 'true';
    if (!isValid(String(headers[reloadHeader] ?? ''), isForced, Date.now())) throw new Problem('route_not_found');
    return reload(isForced);
  });
}
