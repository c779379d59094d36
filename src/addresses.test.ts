import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkOf } from './addresses.ts';

for (const [address, network] of [
  ['203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['', ''],
] as const) {
  test(`guesses from ${JSON.stringify(address)} count for ${JSON.stringify(network)}`, () => {
    assert.equal(networkOf(address), network);
  });
}
