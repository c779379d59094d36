import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOfTier, isSameShape } from './picture-shape.ts';

for (const [size, ratio, expected] of [
  ['1024x1024', '1:1', true],
  ['1024x576', '16:9', true],
  ['576x1024', '9:16', true],
  ['576x1024', '16:9', false],
  ['1536x1024', '3:2', true],
  ['1536x1024', '6:4', true],
  ['1792x1024', '16:9', false],
  // 480 lines of 16:9 are 853.33 wide; 852 and 855 columns have 479.25 and 480.94 lines.
  ['853x480', '16:9', true],
  ['854x480', '16:9', true],
  ['852x480', '16:9', true],
  ['855x480', '16:9', true],
  ['851x480', '16:9', false],
  ['856x480', '16:9', false],
  ['1000x426', '2.35:1', true],
  ['1000x425', '2.35:1', true],
  ['1000x424', '2.35:1', false],
  ['1025x1024', '1:1', false],
  ['auto', '16:9', true],
  ['1024x1024', 'auto', true],
  ['1024x1024', 'adaptive', true],
] as const) {
  test(`R-307: ${size} ${expected ? 'agrees' : 'disagrees'} with ${ratio}`, () => {
    assert.equal(isSameShape(size, ratio), expected);
  });
}

for (const [size, tier, expected] of [
  ['1280x720', '720p', true],
  ['720x1280', '720p', true],
  ['1280x720', '1080p', false],
  ['854x480', '480p', true],
  ['1080x1080', '1080p', true],
  ['3840x2160', '4k', true],
  ['2160x3840', '4k', true],
  ['4096x2160', '4k', true],
  ['1920x1080', '4k', false],
  ['7680x4320', '8k', true],
  ['1920x1080', '2k', undefined],
  ['1920x1080', 'constructor', undefined],
  ['auto', '720p', undefined],
] as const) {
  test(`R-351: ${size} and ${tier}: ${expected ?? 'cannot be compared'}`, () => {
    assert.equal(isOfTier(size, tier), expected);
  });
}
