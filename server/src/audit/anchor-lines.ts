import { type Anchor, anchorMessage } from './anchors.ts';

/**
 * The anchors among the lines of a log, in JSON. Other lines are ignored, since a log contains more than anchors.
 *
 * @throws {SyntaxError} when an anchor is not complete
 */
export async function readAnchors(lines: AsyncIterable<string>): Promise<Anchor[]> {
  const anchors: Anchor[] = [];
  for await (const line of lines) if (line.includes(`"${anchorMessage}"`)) anchors.push(anchorIn(line));
  return anchors;
}

function anchorIn(line: string): Anchor {
  // A log collector may have put something in front.
  const { chain, position, hash, at } = JSON.parse(line.slice(line.indexOf('{')));
  const isAnchor =
    typeof chain === 'string' &&
    Number.isSafeInteger(position) &&
    /^[0-9a-f]{64}$/.test(hash) &&
    typeof at === 'string';
  if (!isAnchor) throw new SyntaxError('An anchor has a chain, a position, a hash and a time');
  return { chainId: chain, position, hash: Buffer.from(hash, 'hex'), at: new Date(at) };
}
