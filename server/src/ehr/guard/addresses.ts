import ipaddr from 'ipaddr.js';

/**
 * Where clouds tell a machine its credentials, in ranges that are public or private otherwise: Azure, Alibaba, AWS and
 * Google over IPv6. 169.254.169.254 is link-local.
 * https://learn.microsoft.com/en-us/azure/virtual-network/what-is-ip-address-168-63-129-16
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
 * https://cloud.google.com/compute/docs/metadata/querying-metadata
 */
const metadataAddresses = ['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'];

/** Loopback, RFC 1918, RFC 6598 and RFC 4193: where an EHR in a private network can be. */
const privateRanges = ['loopback', 'private', 'carrierGradeNat', 'uniqueLocal'];

/** Whether an EHR may be at this IP address. Ranges: the IANA special-purpose address registries (RFC 6890). */
export function mayConnectTo(address: string, allowPrivate: boolean): boolean {
  // A zone (`fe80::1%eth0`) comes with link-local addresses only.
  if (!ipaddr.isValid(address) || address.includes('%')) return false;
  const target = embeddedIpv4(ipaddr.process(address));
  if (metadataAddresses.some((metadata) => ipaddr.parse(metadata).toString() === target.toString())) return false;
  const range = target.range();
  return range === 'unicast' || (allowPrivate && privateRanges.includes(range));
}

/** What NAT64 passes an address of 64:ff9b::/96 on to (RFC 6052). */
function embeddedIpv4(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address.range() !== 'rfc6052') return address;
  return ipaddr.fromByteArray(address.toByteArray().slice(12));
}
