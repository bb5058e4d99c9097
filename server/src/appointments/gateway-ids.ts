import { randomUUID } from 'node:crypto';

const prefix = 'cw-';
const pattern = /^cw-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An appointment id that the gateway makes itself: of a two-step cancellation, or of a booking the EHR cannot hold. */
export function makeGatewayId(): string {
  return `${prefix}${randomUUID()}`;
}

/** Ids that look like ours are looked up; whatever else is the EHR's costs nothing. */
export function isGatewayId(id: string): boolean {
  return pattern.test(id);
}
