import { BlockList, isIP } from 'node:net';

/** Special-purpose IPv4: this network, private, shared, loopback, link-local, documentation, tests, multicast. */
const IPV4_REFUSED = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // A public number at which one cloud answers every machine in it with that machine's own secrets.
  '168.63.129.16/32',
];

/**
 * Everything public in IPv6 is in here. What lies outside needs no list: loopback, unique local, link-local, multicast,
 * segment routing, and the IPv4 addresses in mapped, compatible, translated and NAT64 form.
 */
const IPV6_PUBLIC = ['2000::/3'];

/** Protocol assignments with Teredo, documentation twice, and 6to4. */
const IPV6_REFUSED = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

// One list for each family: a list with both applies its IPv6 rules to IPv4 addresses in their mapped form.
const refusedIpv4 = blockListOf(IPV4_REFUSED, 'ipv4');
const publicIpv6 = blockListOf(IPV6_PUBLIC, 'ipv6');
const refusedIpv6 = blockListOf(IPV6_REFUSED, 'ipv6');

export function isPublicAddress(address: string): boolean {
  // With a zone it is meant for one of this machine's own links.
  if (address.includes('%')) return false;
  switch (isIP(address)) {
    case 4:
      return !refusedIpv4.check(address, 'ipv4');
    case 6:
      return publicIpv6.check(address, 'ipv6') && !refusedIpv6.check(address, 'ipv6');
    default:
      return false;
  }
}

/** Whatever the spelling. */
export function isAmong(address: string, addresses: readonly string[]): boolean {
  const list = new BlockList();
  for (const each of addresses) list.addAddress(each, familyOf(each));
  return isIP(address) !== 0 && list.check(address, familyOf(address));
}

function blockListOf(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
