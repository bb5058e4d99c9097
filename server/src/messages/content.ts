import type { KeyRing } from '../secrets/key-ring.ts';
import type { CodeMessage } from './outbox.ts';

/** What is sealed while a message waits: all that is somebody's. */
export interface Content extends Pick<CodeMessage, 'kind' | 'to' | 'language' | 'clinicName' | 'timeZone' | 'code'> {
  readonly firstStart: Date;
  readonly count: number;
}

/** What the sealed content belongs to; it cannot be opened as another row's. */
interface Owner {
  readonly id: string;
  readonly emr: string;
}

const contextOf = ({ id, emr }: Owner) => JSON.stringify(['message', id, emr]);

export function sealContent(keys: KeyRing, owner: Owner, content: Content): Buffer {
  return keys.seal('message', JSON.stringify(content), contextOf(owner));
}

/** `undefined`: sealed with a key that is no longer known. */
export function openContent(keys: KeyRing, owner: Owner, sealed: Buffer): Content | undefined {
  const text = keys.open('message', sealed, contextOf(owner));
  if (text === undefined) return undefined;
  const content = JSON.parse(text);
  return { ...content, firstStart: new Date(content.firstStart) };
}
