import { randomUUID } from 'node:crypto';

const prefix = 'cw-';
const pattern = /^cw-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Creates an appointment id for a two-step cancellation or a draft. */
export function makeGatewayId(): string {
  return `${prefix}${randomUUID()}`;
}

/** Whether the id has the gateway's format. Those are looked up in its tables before the EHR. */
export function isGatewayId(id: string): boolean {
  return pattern.test(id);
}
