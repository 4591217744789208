// Lumberjack in Node's standard library only: written from the protocol's description, without anything of wiregen.

import { deflateSync, inflateSync } from 'node:zlib';

export const LIMITS = { frame: 16 << 20, inflated: 64 << 20, count: 65536, messages: 131072, depth: 1 };
const TYPES = { W: 'Window', D: 'Data', J: 'Json', A: 'Ack', C: 'Compressed' };
const LETTERS = Object.fromEntries(Object.entries(TYPES).map(([letter, name]) => [name, letter]));
const utf8 = () => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const UTF8 = utf8();

export class Refusal extends Error {
  constructor(code, at, recoverable = false) {
    super(code);
    Object.assign(this, { code, at, recoverable });
  }
}

class Incomplete extends Error {}

// What one outermost frame may still use; `strict`: texts that are none are refused.
class Budget {
  constructor(limits, strict) {
    this.strict = strict;
    this.limits = { ...LIMITS, ...limits };
    this.inflated = this.limits.inflated;
    this.messages = this.limits.messages;
  }
}

// ---- reading

// Reads one frame that begins at `start`; nothing behind the bytes that are there is asked for.
class Frame {
  constructor(data, start, budget, depth) {
    Object.assign(this, { data, start, budget, depth, position: start });
  }

  need(size) {
    if (this.position + size > this.data.length) throw new Incomplete();
  }

  // No field goes beyond the limit of a frame.
  fixed(size) {
    if (this.position - this.start + size > this.budget.limits.frame) {
      throw new Refusal('limit_exceeded', this.position);
    }
    this.need(size);
  }

  u8() {
    this.fixed(1);
    return this.data[this.position++];
  }

  u32() {
    this.fixed(4);
    this.position += 4;
    return this.data.readUInt32BE(this.position - 4);
  }

  // A length is refused before its bytes are there; inside compressed bytes, which are all there, it may only be cut.
  bytes() {
    const at = this.position;
    const size = this.u32();
    if (this.depth > 0) this.need(size);
    if (this.position - this.start + size > this.budget.limits.frame) throw new Refusal('limit_exceeded', at);
    this.need(size);
    this.position += size;
    return this.data.subarray(this.position - size, this.position);
  }

  text() {
    const octets = this.bytes();
    try {
      return UTF8.decode(octets);
    } catch {
      if (this.budget.strict) throw new Refusal('invalid_text', this.position - octets.length + wholePart(octets));
      return { hex: octets.toString('hex') };
    }
  }

  // Reads the frame; one that is asked again, with more bytes, goes on behind its last whole pair.
  read() {
    if (this.list !== undefined) return { ...this.said, fields: this.pairs() };
    const version = this.u8();
    if (version !== 0x31 && version !== 0x32) throw new Refusal('invalid_enum', this.position - 1);
    const message = TYPES[String.fromCharCode(this.u8())];
    if (message === undefined) throw new Refusal('unknown_code', this.position - 1);
    this.said = { message, header: { version: version === 0x31 ? 'V1' : 'V2' } };
    return { ...this.said, fields: this[message]() };
  }

  Window() {
    return { size: this.u32() };
  }

  Ack() {
    return { sequence: this.u32() };
  }

  Json() {
    return { sequence: this.u32(), document: this.bytes().toString('hex') };
  }

  Data() {
    const sequence = this.u32();
    const at = this.position;
    const count = this.u32();
    const { limits } = this.budget;
    if (count > limits.count || count > this.budget.messages) throw new Refusal('limit_exceeded', at);
    if (this.depth > 0) this.need(8 * count);
    if (this.position - this.start + 8 * count > limits.frame) throw new Refusal('limit_exceeded', at);
    this.budget.messages -= count;
    this.list = { sequence, count, pairs: [], end: this.position };
    return this.pairs();
  }

  pairs() {
    const { sequence, count, pairs } = this.list;
    this.position = this.list.end;
    while (pairs.length < count) {
      pairs.push({ key: this.text(), value: this.text() });
      this.list.end = this.position;
    }
    return { sequence, pairs };
  }

  // Takes the same bytes and more, which begin where the frame does.
  goOn(data) {
    const moved = this.start;
    Object.assign(this, { data, start: 0, position: 0 });
    if (this.list !== undefined) this.list.end -= moved;
  }

  // A fault inside is told at the place of the outermost compressed bytes; behind them, reading may go on.
  Compressed() {
    const body = this.bytes();
    const at = this.position - body.length;
    if (this.depth > this.budget.limits.depth) throw new Refusal('too_deep', at, true);
    try {
      return { frames: wholeFrames(this.inflated(body), this.budget, this.depth + 1) };
    } catch (error) {
      if (error instanceof Refusal) throw new Refusal(error.code, at, true);
      throw error;
    }
  }

  inflated(body) {
    const most = this.budget.inflated;
    let found;
    try {
      found = inflateSync(body, { info: true, maxOutputLength: Math.max(1, most) });
    } catch (error) {
      throw new Refusal(error.code === 'ERR_BUFFER_TOO_LARGE' ? 'limit_exceeded' : 'inflate_failed', 0);
    }
    if (found.buffer.length > most) throw new Refusal('limit_exceeded', 0);
    if (found.engine.bytesWritten < body.length) throw new Refusal('trailing_bytes', 0);
    this.budget.inflated -= found.buffer.length;
    return found.buffer;
  }
}

// The size of what is UTF-8 at the beginning of something that is not.
function wholePart(octets) {
  const decoder = utf8();
  let size = 0;
  try {
    for (let at = 0; at < octets.length; at += 1) {
      if (decoder.decode(octets.subarray(at, at + 1), { stream: true }) !== '') size = at + 1;
    }
  } catch {
    return size;
  }
  return size;
}

function wholeFrames(data, budget, depth) {
  const frames = [];
  let position = 0;
  while (position < data.length) {
    budget.messages -= 1;
    if (budget.messages < 0 || frames.length === budget.limits.count) throw new Refusal('limit_exceeded', position);
    const frame = new Frame(data, position, budget, depth);
    try {
      frames.push(frame.read());
    } catch (error) {
      throw error instanceof Incomplete ? new Refusal('partial_inner', position) : error;
    }
    position = frame.position;
  }
  return frames;
}

// Frames out of chunks. `feed` returns those that are whole now, and throws a Refusal; then it is not to be used again.
export class Decoder {
  constructor(limits = {}, strict = false) {
    this.limits = limits;
    this.strict = strict;
    this.data = Buffer.alloc(0);
    this.offset = 0; // where `data` begins in the stream
    this.frames = [];
    this.begun = undefined; // the frame that is cut, where some of its pairs are read
  }

  get pending() {
    return this.data.length;
  }

  feed(chunk) {
    this.data = this.data.length > 0 ? Buffer.concat([this.data, chunk]) : chunk;
    let frame = this.begun;
    frame?.goOn(this.data);
    let position = 0;
    while (position < this.data.length) {
      frame ??= new Frame(this.data, position, new Budget(this.limits, this.strict), 0);
      try {
        this.frames.push(frame.read());
      } catch (error) {
        if (error instanceof Incomplete) break;
        if (error instanceof Refusal) error.at += this.offset;
        throw error;
      }
      position = frame.position;
      frame = undefined;
    }
    this.begun = frame?.list === undefined ? undefined : frame;
    this.offset += position;
    this.data = this.data.subarray(position);
  }
}

// ---- writing

function u32(value) {
  if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) throw new Refusal('invalid_value');
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value);
  return octets;
}

function prefixed(octets, limits) {
  if (octets.length > limits.frame) throw new Refusal('limit_exceeded');
  return Buffer.concat([u32(octets.length), octets]);
}

function octetsOf(text) {
  if (typeof text !== 'string') return Buffer.from(text.hex, 'hex');
  if (!text.isWellFormed()) throw new Refusal('invalid_text');
  return Buffer.from(text, 'utf8');
}

const BODIES = {
  Window: (fields) => [u32(fields.size)],
  Ack: (fields) => [u32(fields.sequence)],
  Json: (fields, limits) => [u32(fields.sequence), prefixed(Buffer.from(fields.document, 'hex'), limits)],
  Data: (fields, limits) => {
    if (fields.pairs.length > limits.count) throw new Refusal('limit_exceeded');
    const pairs = fields.pairs.flatMap(({ key, value }) => [octetsOf(key), octetsOf(value)]);
    return [u32(fields.sequence), u32(fields.pairs.length), ...pairs.map((octets) => prefixed(octets, limits))];
  },
  Compressed: (fields, limits, depth) => {
    if (depth > limits.depth) throw new Refusal('too_deep');
    if (fields.frames.length > Math.min(limits.count, limits.messages)) throw new Refusal('limit_exceeded');
    const inner = Buffer.concat(fields.frames.map((frame) => encode(frame, limits, depth + 1)));
    return [prefixed(deflateSync(inner, { level: 0 }), limits)];
  },
};

// Returns the bytes of a frame; what is compressed is stored, which all builds of zlib write alike.
export function encode(frame, limits = LIMITS, depth = 0) {
  const version = { V1: '1', V2: '2' }[frame.header?.version ?? 'V2'];
  if (version === undefined) throw new Refusal('invalid_enum');
  const letter = LETTERS[frame.message];
  if (letter === undefined) throw new Refusal('unknown_code');
  const data = Buffer.concat([Buffer.from(version + letter), ...BODIES[frame.message](frame.fields, limits, depth)]);
  if (data.length > limits.frame) throw new Refusal('limit_exceeded');
  return data;
}
