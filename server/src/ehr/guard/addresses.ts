import ipaddr from 'ipaddr.js';

/**
 * Cloud metadata services at public or private addresses: Azure, Alibaba, and AWS and Google over IPv6. The common
 * address 169.254.169.254 is link-local and needs no entry.
 * https://learn.microsoft.com/en-us/azure/virtual-network/what-is-ip-address-168-63-129-16
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
 * https://cloud.google.com/compute/docs/metadata/querying-metadata
 */
const metadataAddresses = ['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'];

/** Private ranges: loopback, RFC 1918, RFC 6598 and RFC 4193. */
const privateRanges = ['loopback', 'private', 'carrierGradeNat', 'uniqueLocal'];

/** Whether the gateway may connect to an EHR at this address. Ranges: IANA special-purpose registries (RFC 6890). */
export function mayConnectTo(address: string, allowPrivate: boolean): boolean {
  // Only link-local addresses have a zone (`fe80::1%eth0`).
  if (!ipaddr.isValid(address) || address.includes('%')) return false;
  const target = embeddedIpv4(ipaddr.process(address));
  if (metadataAddresses.some((metadata) => ipaddr.parse(metadata).toString() === target.toString())) return false;
  const range = target.range();
  return (range === 'unicast' && isGlobal(target)) || (allowPrivate && privateRanges.includes(range));
}

/** The only IPv6 block with global unicast addresses (IANA). */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * Whether a unicast address leads to no other one. Outside of 2000::/3 are the IPv4-compatible addresses `::127.0.0.1` (RFC
 * 4291, deprecated) and unallocated blocks. ISATAP (RFC 5214) has an IPv4 address behind `0:5efe` or `200:5efe`.
 */
function isGlobal(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address instanceof ipaddr.IPv4) return true;
  const [, , , , fifth = 0, sixth] = address.parts;
  const isIsatap = (fifth & ~0x200) === 0 && sixth === 0x5efe;
  return address.match(globalUnicast) && !isIsatap;
}

const nat64 = ipaddr.parseCIDR('64:ff9b::/96');

/**
 * The IPv4 address that NAT64 translates an address of 64:ff9b::/96 to (RFC 6052). In other prefixes, such as 64:ff9b:1::/48
 * (RFC 8215), the IPv4 address can be at another place, so their addresses are never unicast.
 */
function embeddedIpv4(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (!(address instanceof ipaddr.IPv6) || !address.match(nat64)) return address;
  return ipaddr.fromByteArray(address.toByteArray().slice(12));
}
