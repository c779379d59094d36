import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRedirectAllowed } from './redirect-uri.ts';

const HTTPS = 'https://app.example/callback?to=1';
const LOOPBACK = 'http://127.0.0.1:8080/callback';
const REGISTERED = [HTTPS, LOOPBACK, 'http://[::1]/callback', 'http://localhost:3000/callback'];

const ALLOWED = [...REGISTERED];
const ALLOWED_FOR_PUBLIC = [
  'http://127.0.0.1/callback',
  'http://127.0.0.1:51004/callback',
  'http://[::1]:51004/callback',
  'http://localhost:3001/callback',
  'http://localhost/callback',
];
const REFUSED = [
  '',
  'https://app.example/callback',
  'https://app.example:443/callback?to=1',
  'https://app.example/callback?to=1&more=2',
  'https://app.example/callback?to=1#fragment',
  'https://APP.example/callback?to=1',
  'https://app.example/../callback?to=1',
  'https://app.example/callback/?to=1',
  'https://app.example.evil/callback?to=1',
  'https://app.example@evil.example/callback?to=1',
  'http://app.example/callback?to=1',
  'http://127.0.0.1:8080/callback/',
  'http://127.0.0.1:8080/other',
  'http://127.0.0.1:8080/callback?x=1',
  'http://127.0.0.1:/callback',
  'http://127.0.0.1:123456/callback',
  'http://127.0.0.1:80a/callback',
  'http://127.0.0.1:80@evil.example/callback',
  'http://user@127.0.0.1:80/callback',
  'http://127.0.0.1.evil.example/callback',
  'http://127.0.0.1:80.evil.example/callback',
  'http://127.0.0.1\\@evil.example/callback',
  'http://127.1/callback',
  'http://127.0.0.2:8080/callback',
  'http://[::1]evil.example/callback',
  'http://[0:0:0:0:0:0:0:1]/callback',
  'http://LOCALHOST:3001/callback',
  'http://localhost.evil.example/callback',
  'http://app.localhost/callback',
  'https://127.0.0.1:8080/callback',
];

for (const uri of ALLOWED) {
  test(`R-128: ${uri} is allowed, letter by letter`, () => {
    assert.equal(isRedirectAllowed(REGISTERED, uri, false), true);
    assert.equal(isRedirectAllowed(REGISTERED, uri, true), true);
  });
}

for (const uri of ALLOWED_FOR_PUBLIC) {
  test(`R-128: ${uri} is allowed for a public app, whatever the port`, () => {
    assert.equal(isRedirectAllowed(REGISTERED, uri, true), true);
    assert.equal(isRedirectAllowed(REGISTERED, uri, false), false);
  });
}

for (const uri of REFUSED) {
  test(`R-128: ${uri || 'nothing'} is not allowed`, () => {
    assert.equal(isRedirectAllowed(REGISTERED, uri, true), false);
    assert.equal(isRedirectAllowed(REGISTERED, uri, false), false);
  });
}
