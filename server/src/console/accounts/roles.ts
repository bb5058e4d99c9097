import type { OperatorRole } from '../../db/tables/console.ts';

/** From the least to the most. Each role includes those before it. */
export const roles = ['view', 'operate', 'admin'] as const satisfies readonly OperatorRole[];
export type Role = OperatorRole;

/** Whether a role includes another. */
export function includesRole(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}
