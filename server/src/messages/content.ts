import type { KeyRing } from '../secrets/key-ring.ts';
import type { CodeMessage } from './outbox.ts';

/** The personal data of a queued message. Stored encrypted. */
export interface Content
  extends Pick<CodeMessage, 'kind' | 'to' | 'language' | 'clinicName' | 'timeZone' | 'pageUrl' | 'code'> {
  readonly firstStart: Date;
  readonly count: number;
}

/** The row that the content belongs to. It cannot be decrypted for another row. */
interface Owner {
  readonly id: string;
  readonly emr: string;
}

const contextOf = ({ id, emr }: Owner) => JSON.stringify(['message', id, emr]);

export function sealContent(keys: KeyRing, owner: Owner, content: Content): Buffer {
  return keys.seal('message', JSON.stringify(content), contextOf(owner));
}

/** Returns `undefined` if the content was encrypted with an unknown key. */
export function openContent(keys: KeyRing, owner: Owner, sealed: Buffer): Content | undefined {
  const text = keys.open('message', sealed, contextOf(owner));
  if (text === undefined) return undefined;
  const content = JSON.parse(text);
  return { ...content, firstStart: new Date(content.firstStart) };
}
