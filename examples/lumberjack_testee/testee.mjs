// Lets `wiregen vectors run lumberjack -- node testee.mjs` ask lumberjack.mjs: a line of JSON in, a line of JSON out.

import { createInterface } from 'node:readline';
import { Decoder, LIMITS, Refusal, encode } from './lumberjack.mjs';

const ANSWERS = {
  hello: () => ({
    name: 'Lumberjack in Node',
    can: ['decode', 'encode'],
    tells: ['code', 'at', 'recoverable'],
    serializations: ['native'],
  }),

  decode: ({ chunks, limits, strict }) => {
    const decoder = new Decoder(limits, strict);
    try {
      for (const chunk of chunks) decoder.feed(Buffer.from(chunk, 'hex'));
    } catch (error) {
      return { frames: decoder.frames, error: told(error) };
    }
    return { frames: decoder.frames, incomplete: decoder.pending > 0 };
  },

  encode: ({ frames, limits }) => {
    try {
      const data = frames.map((frame) => encode(frame, { ...LIMITS, ...limits }));
      return { bytes: Buffer.concat(data).toString('hex') };
    } catch (error) {
      return { error: told(error) };
    }
  },
};

function told(error) {
  if (!(error instanceof Refusal)) throw error; // a bug: the runner sees how this program ends
  return { code: error.code, at: error.at, recoverable: error.recoverable };
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const answer = ANSWERS[request.do] ?? (() => ({ skip: `it does not ${request.do}` }));
  process.stdout.write(`${JSON.stringify({ id: request.id, ...answer(request) })}\n`);
}
