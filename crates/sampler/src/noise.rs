//! Random numbers: one ChaCha8 stream for each chain, so that a chain's noise depends on the seed
//! and its own number alone.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rand_distr::{Distribution, StandardNormal, StandardUniform};

use crate::kernels::Kernel;

/// The random numbers of one step of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Noise<'a> {
    /// Standard normals. Chain after chain; within a chain, d for the kernel's first noise
    /// component, d for its second, and so on.
    pub normals: &'a [f64],
    /// Uniform on [0, 1), those of a chain together.
    pub uniforms: &'a [f64],
}

/// The generator of one chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    generator: ChaCha8Rng,
}

impl Stream {
    /// Stream number `chain` of a seed, at its beginning.
    #[must_use]
    pub fn new(seed: u64, chain: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(chain);
        Self { generator }
    }

    /// The same stream at a position from [`Stream::position`].
    #[must_use]
    pub fn at(seed: u64, chain: u64, position: u128) -> Self {
        let mut stream = Self::new(seed, chain);
        stream.generator.set_word_pos(position);
        stream
    }

    /// How much of the stream was used.
    #[must_use]
    pub fn position(&self) -> u128 {
        self.generator.get_word_pos()
    }

    /// Fills a list with standard normals.
    pub fn normals(&mut self, into: &mut [f64]) {
        for x in into {
            *x = StandardNormal.sample(&mut self.generator);
        }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A number uniform on [0, 1).
    pub fn uniform(&mut self) -> f64 {
        StandardUniform.sample(&mut self.generator)
    }

    /// Fills a list with numbers uniform on [0, 1).
    pub fn uniforms(&mut self, into: &mut [f64]) {
        for x in into {
            *x = StandardUniform.sample(&mut self.generator);
        }
    }
}

/// Room for the noise of a batch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffer {
    normals: Vec<f64>,
    uniforms: Vec<f64>,
    normals_each: usize,
    uniforms_each: usize,
}

impl Buffer {
    /// Makes room for `chains` chains of `dimension` coordinates.
    pub(crate) fn resize(&mut self, kernel: &dyn Kernel, dimension: usize, chains: usize) {
        self.normals_each = kernel.normals() * dimension;
        self.uniforms_each = kernel.uniforms();
        self.normals.resize(self.normals_each * chains, 0.0);
        self.uniforms.resize(self.uniforms_each * chains, 0.0);
    }

    /// Draws what one chain needs for a step.
    pub(crate) fn draw(&mut self, chain: usize, stream: &mut Stream) {
        stream
            .normals(&mut self.normals[chain * self.normals_each..(chain + 1) * self.normals_each]);
        stream.uniforms(
            &mut self.uniforms[chain * self.uniforms_each..(chain + 1) * self.uniforms_each],
        );
    }

    /// All of it.
    pub(crate) fn all(&self) -> Noise<'_> {
        Noise { normals: &self.normals, uniforms: &self.uniforms }
    }

    /// One chain's.
    pub(crate) fn of(&self, chain: usize) -> Noise<'_> {
        Noise {
            normals: &self.normals[chain * self.normals_each..(chain + 1) * self.normals_each],
            uniforms: &self.uniforms[chain * self.uniforms_each..(chain + 1) * self.uniforms_each],
        }
    }
}
