import { BlockList, isIP } from 'node:net';

interface AddressRange {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** An IP address or a range in CIDR notation (RFC 4632, RFC 4291); `undefined` for anything else. */
export function parseRange(text: string): AddressRange | undefined {
  const [, address = '', length] = /^([^/]+?)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return undefined;
  const bits = version === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  return prefix <= bits ? { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' } : undefined;
}

/** Returns a test for whether an address is in one of the ranges. Accepts IPv4-mapped IPv6 addresses. */
export function addressesIn(ranges: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList();
  for (const text of ranges) {
    const range = parseRange(text);
    if (range) list.addSubnet(range.address, range.prefix, range.family);
  }
  return (address) => {
    const version = isIP(address ?? '');
    return address !== undefined && version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4');
  };
}
