import { expect, test } from 'vitest';
import { roleOf } from './claims.ts';

const roles = { view: ['staff', 'readers'], operate: ['on-call'], admin: ['admins'] };

test.each([
  ['groups', { groups: ['staff'] }, 'view'],
  ['groups', { groups: 'on-call' }, 'operate'],
  ['groups', { groups: ['staff', 'admins', 'on-call'] }, 'admin'],
  ['groups', { groups: ['Staff', 'others', 7, null] }, undefined],
  ['groups', {}, undefined],
  ['realm_access.roles', { realm_access: { roles: ['readers'] } }, 'view'],
  ['realm_access.roles', { realm_access: 'readers' }, undefined],
  ['https://example.org/roles', { 'https://example.org/roles': ['admins'] }, 'admin'],
  ['constructor.name', {}, undefined],
])('the claim %s of %j gives the role %s', (role_claim, claims, role) => {
  expect(roleOf({ role_claim, roles }, claims)).toBe(role);
});

test('a role without values is given to nobody', () => {
  expect(roleOf({ role_claim: 'groups', roles: { admin: ['admins'] } }, { groups: ['undefined'] })).toBeUndefined();
});
