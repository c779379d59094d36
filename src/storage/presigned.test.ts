import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presignedSignature } from './presigned.ts';

// The worked example in the documentation of Signature Version 4.
const ADDRESS = 'https://examplebucket.s3.amazonaws.com/test.txt';
const QUERY =
  'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request' +
  '&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host';
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const SIGNATURE = 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404';

test('the signature of the documented example comes out, in whatever order its query is written', () => {
  const backwards = QUERY.split('&').toReversed().join('&');
  for (const query of [QUERY, `${QUERY}&X-Amz-Signature=${SIGNATURE}`, backwards]) {
    assert.equal(presignedSignature(ADDRESS, query, SECRET), SIGNATURE);
  }
});
