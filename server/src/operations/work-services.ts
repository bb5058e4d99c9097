import type { Db } from '../db/kysely.ts';
import type { Outbox } from '../messages/outbox.ts';
import type { PageLinks } from '../messages/page-links.ts';
import type { KeyRing } from '../secrets/key-ring.ts';

/** Services that a kind of write uses besides the EHR. */
export interface WorkServices {
  readonly db: Db;
  readonly keys: KeyRing;
  readonly outbox: Outbox;
  /** Links to the pages for patients. */
  readonly pages: PageLinks;
}
