import type { OidcSettings } from '../../config/console-settings.ts';
import { type Role, roles } from '../accounts/roles.ts';

/** What a provider says about an operator. */
export type Claims = Readonly<Record<string, unknown>>;

/** The highest role that the claims give. */
export function roleOf(
  { role_claim, roles: values }: Pick<OidcSettings, 'role_claim' | 'roles'>,
  claims: Claims,
): Role | undefined {
  const claimed = [claimAt(claims, role_claim)].flat();
  return roles.findLast((role) => values[role]?.some((value) => claimed.includes(value)));
}

/** The claim of this name. Dots lead into objects, unless a claim has the whole name. */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Claims)[key] : undefined,
      claims,
    );
}
