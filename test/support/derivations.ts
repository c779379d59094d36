import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Counts every argon2 derivation of this process. To be imported before whatever derives: it stands between the program and
 * the function of the platform, which is called as before.
 */
export const derivations = { count: 0 };

crypto.argon2 = new Proxy(crypto.argon2, {
  apply: (argon2, receiver, given) => {
    derivations.count++;
    return Reflect.apply(argon2, receiver, given);
  },
});
syncBuiltinESMExports();
