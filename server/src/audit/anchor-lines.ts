import { type Anchor, anchorMessage } from './anchors.ts';

/**
 * Reads the anchors in the lines of a log. Other lines are ignored.
 *
 * @throws {SyntaxError} when an anchor is not complete
 */
export async function readAnchors(lines: AsyncIterable<string>): Promise<Anchor[]> {
  const anchors: Anchor[] = [];
  for await (const line of lines) if (line.includes(`"${anchorMessage}"`)) anchors.push(anchorIn(line));
  return anchors;
}

function anchorIn(line: string): Anchor {
  // A log collector may have added a prefix.
  const { chain, position, hash, at } = JSON.parse(line.slice(line.indexOf('{')));
  const isAnchor =
    typeof chain === 'string' &&
    Number.isSafeInteger(position) &&
    /^[0-9a-f]{64}$/.test(hash) &&
    typeof at === 'string';
  if (!isAnchor) throw new SyntaxError('An anchor has a chain, a position, a hash and a time');
  return { chainId: chain, position, hash: Buffer.from(hash, 'hex'), at: new Date(at) };
}
