import type { HealthcareService } from '@crossward/connector-kit';
import type { EhrConnection } from '../../ehr/connection.ts';
import { unmappedIn } from '../../slot-search/services.ts';
import type { SignedIn } from '../frame/page.ts';
import { counted } from '../frame/parts.ts';

/** Milliseconds. The page does not wait longer for the EHR. */
const longestWait = 1_000;

/**
 * The services of each care unit that no search over many care units finds, because neither `services` of the configuration names
 * them nor the EHR has a code for them. An EHR that cannot be used is not called.
 */
export async function unmappedServices({ deps }: SignedIn, ehr: EhrConnection): Promise<string> {
  const { breaker, pause } = ehr.health();
  if (!ehr.isOpen || pause || breaker !== 'closed') return 'not known now';
  if (!ehr.offers('listHealthcareServices')) return 'the EHR has no list of services';
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), longestWait);
  const found: string[] = [];
  let unknown = 0;
  let isLate = false;
  for (const careUnit of ehr.careUnits.values()) {
    const place = { ehr, careUnit };
    const services: readonly HealthcareService[] | null | undefined = isLate
      ? undefined
      : await Promise.race([deps.slots.servicesOf(place), late]).catch(() => null);
    isLate = services === undefined;
    if (!services) unknown++;
    const names = unmappedIn(deps.sameServices(), place, services ?? []).map(({ id, name }) => `${name} (${id})`);
    if (names.length > 0) found.push(`${careUnit.name}: ${names.join(', ')}`);
  }
  clearTimeout(timer);
  if (unknown > 0) found.push(`${counted(unknown, 'care unit')} not known now`);
  return found.length === 0 ? 'none' : found.join('; ');
}
