import type { ChildRequest } from '../processes/child-gateway.ts';
import { creationBody, type Slot, sodermalm } from '../requests/bookings.ts';
import type { World } from './world.ts';

export const create = (careUnit: string, slot: Slot): ChildRequest => ({
  method: 'POST',
  path: `${careUnit}/appointments`,
  body: creationBody(slot),
});
export const change = (careUnit: string, id: string, body: object): ChildRequest => ({
  method: 'PATCH',
  path: `${careUnit}/appointments/${id}`,
  body,
});
export const changeMany = (careUnit: string, ids: readonly string[], body: object): ChildRequest => ({
  method: 'PATCH',
  path: `${careUnit}/appointments`,
  body: { ids, ...body },
});

export async function book(world: World, careUnit: string, slot: Slot): Promise<string> {
  const { id } = (await world.done(create(careUnit, slot))).body;
  if (careUnit !== sodermalm) return id;
  await world.done(change(careUnit, id, { confirmation: { code: await world.codeFor(id) } }));
  return id;
}
