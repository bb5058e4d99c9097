import { statementsOf } from '@crossward/connector-kit/database';
import type { Tables } from './tables/index.ts';

/** Declares a statement on the gateway's tables that is compiled once: for statements that requests run. */
export const statement = statementsOf<Tables>();
